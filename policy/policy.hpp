// What a policy is: it is told of extents and accesses and says what to move. No CUDA, no threads, no clock,
// no I/O. Called by the runtime's engine and by the simulator, which run the same object files. Thread rule:
// one caller at a time (the caller serialises). Failure rule: a policy cannot fail; it may answer 'nothing'.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "policy/trace.hpp"
#include "src/base/units.hpp"

namespace tencache::policy {

using ExtentIndex = std::uint32_t;      // dense, reused after extent_destroyed
using AllocationIndex = std::uint32_t;  // dense, reused
using StreamIndex = std::uint32_t;      // dense, one per stream of the program

enum class Tier : std::uint8_t { kNone, kHbm, kHost, kDisk };  // kNone: never written, no bytes anywhere

// An extent as the program's allocation made it. `creation_order` counts allocations made since the start.
struct ExtentDescription {
  ExtentIndex extent;
  AllocationIndex allocation;
  std::uint64_t creation_order;
  Bytes allocation_size;
  Bytes offset;  // within its allocation; 0 where several allocations share the extent
  Bytes size;
};

// One operation on the GPU's timeline. Spans are valid during the call only.
struct Access {
  std::uint64_t number;  // counts the accesses of the process, from 1
  StreamIndex stream;
  Nanoseconds enqueued_at;
  std::uint64_t signature;  // function, shape and which arguments, without addresses
  bool opaque;              // may touch anything
  std::span<const ExtentIndex> will_touch;
  std::span<const ExtentIndex> may_touch;  // empty when opaque
  Nanoseconds waited{};                    // before it was let in: for memory, or for the run-ahead limit
};

// A copy of ours that has ended, as it was measured.
struct Transfer {
  enum class Direction : std::uint8_t { kIn, kOut };
  enum class Beside : std::uint8_t { kNothing, kOther, kMixed };  // whether the other direction was busy
  Direction direction;
  Beside beside;
  Bytes size;
  Nanoseconds took;
};

// What a copy of ours, or a comparison with the last one, has shown of an extent's bytes.
enum class Finding : std::uint8_t { kCopied, kUnchanged, kWritten };

// What takes too long for the caller of a policy: done elsewhere, on any thread, then given back. It sees
// nothing of the policy. `stop` asks it to end soon.
class Work {
 public:
  virtual ~Work() = default;
  virtual void run(const std::atomic<bool>& stop) = 0;
};

// What the mechanism knows of an extent now.
struct ExtentState {
  Tier tier = Tier::kNone;
  bool exists = false;
  bool clean = false;   // a lower tier holds the same bytes (as far as is known)
  bool moving = false;  // a move of it is under way
  bool held = false;    // may not leave now: frozen, or an access that may touch it is enqueued
  Bytes size;
};

// Of any extent, worked out when asked for: there may be very many. One that is not known does not exist.
class Extents {
 public:
  using Ask = ExtentState (*)(const void* whom, ExtentIndex extent);
  Extents(const void* whom, Ask ask) : whom_(whom), ask_(ask) {}
  template <class List>
  explicit Extents(const List& list) : whom_(list.data()), ask_(in_list), size_(list.size()) {}
  ExtentState operator[](ExtentIndex extent) const {
    return extent < size_ ? ask_(whom_, extent) : ExtentState();
  }

 private:
  static ExtentState in_list(const void* list, ExtentIndex extent) {
    return static_cast<const ExtentState*>(list)[extent];
  }
  const void* whom_;
  Ask ask_;
  std::size_t size_ = ~std::size_t{0};
};

struct Residency {
  Extents extents;
  Bytes hbm_free;  // bytes of blocks free for a fetch now
  Bytes hbm_total;
  Bytes host_free;
  Nanoseconds now;
};

class Policy {
 public:
  virtual ~Policy() = default;
  [[nodiscard]] virtual const char* name() const = 0;

  virtual void extent_created(const ExtentDescription& extent) = 0;
  virtual void extent_destroyed(ExtentIndex extent) = 0;
  // On the way of a launch: constant time per extent, no allocation in a steady state.
  virtual void access(const Access& access) = 0;
  // Feedback, as far as markers tell. The stream's accesses up to `number` that had not ended before have,
  // one after the other between these times.
  virtual void completed(StreamIndex /*stream*/, std::uint64_t /*number*/, Nanoseconds /*begin*/,
                         Nanoseconds /*end*/) {}
  virtual void copied(const Transfer& /*transfer*/) {}
  virtual void remapped(std::uint32_t /*extents*/, Nanoseconds /*took*/) {}
  // Nothing has touched the extent since its bytes were read for it.
  virtual void examined(ExtentIndex /*extent*/, Finding /*finding*/) {}

  // Room is needed now for an access that waits. The extent to put out next; only extents in HBM that are
  // neither held nor moving qualify. `nothing` means no extent qualifies.
  virtual std::optional<ExtentIndex> victim(const Residency& residency) = 0;
  // The link into HBM is idle: what to bring in ahead of its use.
  virtual std::optional<ExtentIndex> next_fetch(const Residency& residency) = 0;
  // The link out of HBM is idle: what to copy out ahead of its eviction (it stays where it is).
  virtual std::optional<ExtentIndex> next_clean(const Residency& residency) = 0;

  // Something to do elsewhere, one at a time: asked for now and then; null: nothing. And what became of it.
  virtual std::unique_ptr<Work> work(const Residency& /*residency*/) { return nullptr; }
  virtual void worked(std::unique_ptr<Work> /*work*/) {}
  // The step that the program repeats, if it does: as it ran last, with the writes that are known.
  [[nodiscard]] virtual std::optional<Trace> recorded_step() const { return std::nullopt; }
};

}  // namespace tencache::policy
