// Order, counted on the CPU (DESIGN 6.3): every access gets a number after its launch has returned; a marker
// (an event of ours) recorded on its stream after that covers it. What is done is known from markers alone.
// Called by the admission and the engine. Thread rule: under the memory's mutex; the driver calls that record
// and query markers are the caller's, made without it. Failure rule: what cannot be shown to be done counts
// as running.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory_resource>
#include <unordered_map>
#include <vector>

#include "src/base/units.hpp"

namespace tencache::vmm {

using StreamIndex = std::uint32_t;
// In a use: all that had been enqueued, on whatever stream.
inline constexpr StreamIndex kEveryStream = ~StreamIndex{0};

// The last access of a stream to something.
struct Use {
  StreamIndex stream;
  std::uint64_t number;
};

// At most one use a stream; the latest.
class Uses {
 public:
  void add(Use use);
  [[nodiscard]] bool empty() const { return uses_.empty(); }
  [[nodiscard]] const std::vector<Use>& all() const { return uses_; }
  void clear() { uses_.clear(); }

 private:
  friend class StreamOrder;
  std::vector<Use> uses_;
};

enum class StreamKind : std::uint8_t { kNormal, kLegacy, kPerThread };

class StreamOrder {
 public:
  struct Marker {
    CUevent event;
    std::uint64_t number;  // covers the stream's accesses up to this one
    Nanoseconds enqueued_at;
  };
  struct Stream {
    explicit Stream(std::pmr::memory_resource* memory) : markers(memory) {}

    CUstream handle = nullptr;
    StreamKind kind = StreamKind::kNormal;
    std::uint64_t thread = 0;  // whose per-thread default stream
    bool gone = false;
    std::atomic<std::uint64_t> last_enqueued{0};
    std::uint64_t last_marked = 0;
    std::uint64_t completed = 0;
    std::uint64_t last_host_wait = 0;  // the last host function, or wait for a value, enqueued
    Nanoseconds last_marker_at;
    std::uint32_t unmarked = 0;  // accesses since the last marker
    Nanoseconds last_completion_at;
    std::pmr::deque<Marker> markers;
  };

  // `thread` names the calling thread; it matters for CU_STREAM_PER_THREAD only.
  StreamIndex index(CUstream handle, std::uint64_t thread);
  // The stream's handle is about to die; its index lives until its work is done.
  void stream_gone(StreamIndex stream);
  [[nodiscard]] Stream& stream(StreamIndex index) { return streams_[index]; }
  [[nodiscard]] std::size_t stream_count() const { return streams_.size(); }

  // Numbers an access whose launch has returned.
  Use number_access(StreamIndex stream);
  // The same without the mutex, for the fast path: the launch has returned.
  void number_lightly(Stream& stream) {
    stream.last_enqueued.store(last_number_.fetch_add(1, std::memory_order_relaxed) + 1,
                               std::memory_order_release);
  }
  [[nodiscard]] std::uint64_t last_number() const { return last_number_; }

  void marker_recorded(StreamIndex stream, const Marker& marker);
  // The stream has done everything up to `number`. Answers the events that are free again.
  void completed_up_to(StreamIndex stream, std::uint64_t number, std::vector<CUevent>* free_events);
  void all_completed_up_to(std::uint64_t number, std::vector<CUevent>* free_events);
  // The same, seen at `now`: what it took is learned from it. Answers when that work began.
  Nanoseconds seen_completed(StreamIndex stream, const Marker& marker, Nanoseconds now,
                             std::vector<CUevent>* free_events);
  // The longest that work between two markers has taken lately, at most.
  [[nodiscard]] Nanoseconds longest_seen() const { return longest_seen_; }

  [[nodiscard]] bool done(const Use& use) const {
    return use.stream == kEveryStream ? all_completed(use.number)
                                      : streams_[use.stream].completed >= use.number;
  }
  [[nodiscard]] bool all_ended() const;
  // True when everything in `uses` is done; forgets what is.
  bool all_done(Uses& uses) const;
  // A host function, or a wait for a value in memory, is enqueued somewhere and not known to be done.
  [[nodiscard]] bool host_wait_ahead() const;

 private:
  [[nodiscard]] bool all_completed(std::uint64_t number) const;

  struct Key {
    CUstream handle;
    std::uint64_t thread;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return std::hash<const void*>()(key.handle) ^ (key.thread * 0x9e3779b97f4a7c15u);
    }
  };

  std::unordered_map<Key, StreamIndex, KeyHash> by_key_;
  std::pmr::unsynchronized_pool_resource marker_memory_;  // markers come and go with accesses: used again
  std::deque<Stream> streams_;                            // stable addresses
  std::vector<StreamIndex> gone_;
  std::atomic<std::uint64_t> last_number_{0};
  Nanoseconds longest_seen_;
};

}  // namespace tencache::vmm
