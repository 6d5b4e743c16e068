// How a copy or memset that cannot be let in whole is cut into calls of its own. The doors make a PartIssuer
// of each, the runtime asks it. Thread rule: on the caller's stack. Failure rule: the driver's answers.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <cstdint>

#include "src/base/units.hpp"

namespace tencache::runtime {

// What one call can do: `count` rows of `width` bytes. `destination` and `source` say how far behind the base
// of their range the first byte lies.
struct Rows {
  std::uint64_t width = 0;
  std::uint64_t count = 0;
  std::uint64_t destination = 0;
  std::uint64_t source = 0;
  std::uint64_t destination_pitch = 0;
  std::uint64_t source_pitch = 0;

  [[nodiscard]] Bytes size() const { return Bytes(width * count); }
  // From the first byte to the last, on a side whose rows are `pitch` apart.
  [[nodiscard]] Bytes span(std::uint64_t pitch) const {
    return Bytes(count == 0 ? 0 : (count - 1) * pitch + width);
  }
  // As many of the rows, or as much of the first one, as spans no more than this on either side.
  [[nodiscard]] Rows within(Bytes destination_room, Bytes source_room) const {
    Rows fewer = *this;
    const Bytes room = std::min(destination_room, source_room);
    if (room < Bytes(width)) {
      fewer.width = room.count();
      fewer.count = std::min<std::uint64_t>(count, 1);
      return fewer;
    }
    fewer.count =
        std::min(rows_within(destination_pitch, destination_room), rows_within(source_pitch, source_room));
    return fewer;
  }

 private:
  [[nodiscard]] std::uint64_t rows_within(std::uint64_t pitch, Bytes room) const {
    return pitch == 0 ? count : std::min(count, (room.count() - width) / pitch + 1);
  }
};

class PartIssuer {
 public:
  // The most that one call can do from byte `offset` on, where the operation's bytes are counted row by row;
  // no rows at its end.
  [[nodiscard]] virtual Rows rows_at(std::uint64_t offset) const noexcept = 0;
  // The same call, with the same stream and synchronisation, on rows_at(offset) or what is within it, with
  // these addresses in place of the program's (0 for a side that is not device memory of ours).
  virtual CUresult issue(std::uint64_t offset, const Rows& rows, CUdeviceptr destination,
                         CUdeviceptr source) const noexcept = 0;

 protected:
  ~PartIssuer() = default;
};

}  // namespace tencache::runtime
