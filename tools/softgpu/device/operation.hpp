// One operation on the device's timeline and the stream it is in. Made by the driver API, driven by the
// scheduler. Thread rule: fields are the scheduler's, under its lock, once submitted; `complete` and `end`
// may be read by anybody. Failure rule: an operation whose context died completes without having run.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace softgpu {

// What becomes of a context: its first error stays, and cancels what runs.
struct Fate {
  int device = 0;
  std::atomic<int> error{CUDA_SUCCESS};
  std::atomic<bool> cancelled{false};

  void kill(CUresult why) {
    int none = CUDA_SUCCESS;
    error.compare_exchange_strong(none, why);
    cancelled.store(true);
  }
};

enum class EngineKind : std::uint8_t {
  kInline,  // takes no time: event records, waits, empty nodes
  kCompute,
  kCopyToDevice,
  kCopyToHost,
  kHostThread,
  kPoll,  // complete when poll() says so
};

struct Progress {
  std::uint64_t start = 0;  // on the device clock
  std::uint64_t end = 0;    // set by the body; never before start
};

struct StreamQueue;

struct Operation {
  EngineKind engine = EngineKind::kInline;
  std::function<void(Progress&)> body;
  std::function<bool()> poll;
  std::shared_ptr<StreamQueue> stream;
  std::vector<std::shared_ptr<Operation>> dependencies;

  std::uint64_t enqueued = 0;
  std::uint64_t start = 0;
  std::uint64_t hold_until = 0;        // the adversary's: not to start before
  std::uint64_t completion_delay = 0;  // the adversary's: how long its end stays invisible
  std::atomic<std::uint64_t> end{0};
  bool awaited = false;  // somebody waits for it; under the scheduler's lock
  std::atomic<bool> complete{false};
};
using OperationPtr = std::shared_ptr<Operation>;

enum class StreamKind : std::uint8_t { kLegacy, kBlocking, kNonBlocking };

// The streams of one context.
struct StreamGroup {
  std::shared_ptr<Fate> fate;
  std::vector<std::shared_ptr<StreamQueue>> streams;  // [0] is the legacy stream; the scheduler's
};

struct StreamQueue {
  StreamKind kind = StreamKind::kBlocking;
  std::uint64_t id = 0;
  std::shared_ptr<Fate> fate;
  std::weak_ptr<StreamGroup> group;
  OperationPtr last;          // under the scheduler's lock
  std::uint64_t pending = 0;  // under the scheduler's lock
  std::uint64_t submitted = 0;
  bool destroyed = false;
};

}  // namespace softgpu
