// What every handler does first: find out whether the runtime manages memory and whether this call is the
// program's own. Thread rule: on the caller's stack. Failure rule: nothing here fails.
#pragma once

#include <cuda.h>

#include <atomic>
#include <span>

#include "interpose/capture.hpp"
#include "src/driver/inside.hpp"
#include "src/runtime/runtime.hpp"

namespace tencache::doors {

// Null until the first cuInit has succeeded, where this machine cannot be served, in a forked child, and
// after exit has begun.
extern std::atomic<runtime::Runtime*> active_runtime;

// While it lives, calls of this thread pass straight.
class Visit {
 public:
  Visit() noexcept : runtime_(inside_depth == 0 ? active_runtime.load(std::memory_order_acquire) : nullptr) {}

  // Whether the runtime is to be asked. If not, the handler only forwards.
  explicit operator bool() const noexcept { return runtime_ != nullptr; }
  runtime::Runtime* operator->() const noexcept { return runtime_; }

  // Makes the call, and once more when memory ran out and room could be made. `wanted`: what it takes, as far
  // as that is known.
  template <class Call>
  CUresult with_room(const Call& call, Bytes wanted = Bytes()) const noexcept {
    const CUresult result = call();
    if (result != CUDA_ERROR_OUT_OF_MEMORY || runtime_ == nullptr) return result;
    return runtime_->make_room_for_pass_through(wanted) ? call() : result;
  }

  // Tells the runtime of the access around the call, or gives the runtime's own answer.
  template <class Call>
  CUresult tell(const runtime::Access& access, const Call& call) const noexcept {
    const runtime::Admission admission = runtime_->before(access);
    if (!admission.forward) return admission.result;
    const CUresult result = with_room(call);
    runtime_->after(access, admission.ticket, result);
    return result;
  }

  // The same for a call that enqueues work, unless it only becomes a node of a graph that is being captured.
  template <class Call>
  CUresult access(const runtime::Access& access, const Call& call) const noexcept {
    return is_captured(access.stream) ? record(access, call) : tell(access, call);
  }

  // The same for kernels of which all addresses are known and no node waits: while everything they may touch
  // is in HBM nothing more is worked out, `describe` makes the access where it is needed. This is the launch
  // path.
  template <class Describe, class Call>
  CUresult access_light(runtime::Stream stream, std::span<const CUdeviceptr> pointers,
                        const Describe& describe, const Call& call) const noexcept {
    if (is_captured(stream)) return record(describe(), call);
    if (const runtime::Passage passage = runtime_->enter_light(stream, pointers)) {
      const CUresult result = call();
      runtime_->left_light(passage);
      // Who is inside would keep room from being made.
      if (result != CUDA_ERROR_OUT_OF_MEMORY || !runtime_->make_room_for_pass_through(Bytes())) return result;
    }
    return tell(describe(), call);
  }

 private:
  // Of what a capture records the driver judges the addresses of copies and memsets at once. Pieces would
  // stay pieces, at addresses that mean nothing when the graph is launched.
  template <class Call>
  CUresult record(const runtime::Access& access, const Call& call) const noexcept {
    const bool judged =
        access.kind == runtime::AccessKind::kCopy || access.kind == runtime::AccessKind::kMemset;
    if (!judged) return with_room(call);
    runtime::Access recorded = access;
    recorded.recorded = true;
    recorded.parts = nullptr;
    return tell(recorded, call);
  }

  runtime::Runtime* const runtime_;  // first: it asks for the depth before this visit adds to it
  Inside inside_;
};

}  // namespace tencache::doors
