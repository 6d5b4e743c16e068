// Finds the addresses kept in memory (DESIGN 6, may-touch): the reading kernel goes over the blocks of
// groups and marks, for each group, the units of the arena that its words point into. Called by the engine
// alone, on its thread, with the primary context current. Thread rule: one thread. Failure rule: `open` says
// why it cannot be had; a census that failed answers false and nothing is known then.
#pragma once

#include <cuda.h>

#include <span>
#include <vector>

#include "src/base/status.hpp"
#include "src/base/units.hpp"
#include "src/driver/driver.hpp"
#include "vmm/reading_kernel.hpp"

namespace tencache::vmm {

class Census {
 public:
  struct Arena {
    CUdeviceptr base = 0;
    Bytes unit;
  };
  // A piece of memory to go over, for the group whose findings go to `row`.
  struct Piece {
    std::uint32_t row = 0;
    MemoryPiece memory;
  };
  static Result<Census> open(const Driver& driver, const ReadingKernel& kernel, const Arena& arena);
  void close();

  // How many rows a census may have that looks for the first `units` units of the arena; 0: too many units.
  [[nodiscard]] std::uint32_t rows_for(std::uint64_t units) const;
  // One at a time.
  [[nodiscard]] bool start(std::span<const Piece> pieces, std::uint32_t rows, std::uint64_t units);
  enum class Progress : std::uint8_t { kRunning, kDone, kFailed };
  Progress poll();
  // After kDone: whether a word of the row's group points into the unit.
  [[nodiscard]] bool points_into(std::uint32_t row, std::uint64_t unit) const {
    return found_[row * units_ + unit] != 0;
  }
  [[nodiscard]] std::uint64_t units() const { return units_; }

 private:
  Census(const Driver& driver, const ReadingKernel& kernel, const Arena& arena)
      : driver_(&driver), kernel_(kernel), arena_(arena) {}
  CUresult make();
  [[nodiscard]] CUresult launch(const Piece& piece) const;

  const Driver* driver_;
  ReadingKernel kernel_;
  Arena arena_;
  CUstream stream_ = nullptr;
  CUevent event_ = nullptr;
  CUdeviceptr map_ = 0;             // a byte a unit and row
  unsigned char* found_ = nullptr;  // pinned, the same on the host
  std::uint64_t units_ = 0;
};

}  // namespace tencache::vmm
