// What the mechanism asks of whoever decides: which extent goes, which comes. Implemented by the runtime over
// a policy, and by tests. Called by the heap, the admission and the engine. Thread rule: under the memory's
// mutex, one caller at a time; no driver call, no lock inside. Failure rule: may answer nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "src/base/units.hpp"
#include "vmm/stream_order.hpp"
#include "vmm/unit_table.hpp"

namespace tencache::vmm {

using ExtentIndex = std::uint32_t;

struct NewExtent {
  ExtentIndex extent;
  GroupIndex group;
  std::uint64_t creation_order;  // counts allocations
  Bytes allocation_size;
  Bytes offset;
  Bytes size;
};

struct AdvisedAccess {
  std::uint64_t number;
  StreamIndex stream;
  Nanoseconds enqueued_at;
  std::uint64_t signature;
  bool opaque;
  std::span<const ExtentIndex> will_touch;
  std::span<const ExtentIndex> may_touch;
  Nanoseconds waited;  // before it was let in
};

// A copy that has ended.
struct Transfer {
  enum class Direction : std::uint8_t { kIn, kOut };
  enum class Beside : std::uint8_t { kNothing, kOther, kMixed };  // whether the other direction was busy
  Direction direction;
  Beside beside;
  Bytes size;
  Nanoseconds took;
};

// Of an extent's bytes, as a copy of ours or a comparison with the last one shows.
enum class Finding : std::uint8_t { kCopied, kUnchanged, kWritten };

// What the advisor wants done outside of the mutex, on a thread of its own.
class Work {
 public:
  virtual ~Work() = default;
  virtual void run(const std::atomic<bool>& stop) = 0;
};

enum class Home : std::uint8_t { kNone, kHbm, kHost };

struct ExtentView {
  Home home = Home::kNone;
  bool exists = false;
  bool clean = false;
  bool moving = false;
  bool held = false;  // may not leave now
  Bytes size;
};

// Of any extent, worked out when asked for: there may be very many. One that is not known does not exist.
struct ExtentViews {
  const void* whom;
  ExtentView (*ask)(const void* whom, ExtentIndex extent);
  ExtentView operator[](ExtentIndex extent) const { return ask(whom, extent); }
};

struct MemoryView {
  ExtentViews extents;
  Bytes hbm_free;
  Bytes hbm_total;
  Bytes host_free;
  Nanoseconds now;
};

class Advisor {
 public:
  virtual ~Advisor() = default;
  virtual void extent_created(const NewExtent& extent) = 0;
  virtual void extent_destroyed(ExtentIndex extent) = 0;
  virtual void access(const AdvisedAccess& access) = 0;
  // Only an extent in HBM that is neither held nor moving qualifies.
  virtual std::optional<ExtentIndex> victim(const MemoryView& view) = 0;
  virtual std::optional<ExtentIndex> next_fetch(const MemoryView& view) = 0;
  virtual std::optional<ExtentIndex> next_clean(const MemoryView& view) = 0;
  // What was measured: the stream's accesses up to `number` have ended; a copy has; mappings were changed.
  virtual void completed(StreamIndex /*stream*/, std::uint64_t /*number*/, Nanoseconds /*begin*/,
                         Nanoseconds /*end*/) {}
  virtual void copied(const Transfer& /*transfer*/) {}
  virtual void remapped(std::uint32_t /*extents*/, Nanoseconds /*took*/) {}
  // What a copy of ours, or a comparison with the last one, has shown; nothing has touched the extent since.
  virtual void examined(ExtentIndex /*extent*/, Finding /*finding*/) {}
  // One at a time; null: nothing.
  virtual std::unique_ptr<Work> work(const MemoryView& /*view*/) { return nullptr; }
  virtual void worked(std::unique_ptr<Work> /*work*/) {}
};

}  // namespace tencache::vmm
