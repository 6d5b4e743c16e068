// What the engine learns of the program's own work: which markers have passed, and markers that are missing.
#include <algorithm>

#include "vmm/engine.hpp"

namespace tencache::vmm {

bool Engine::poll_streams() {
  struct Look {
    StreamIndex stream;
    StreamOrder::Marker marker;
  };
  std::vector<Look> looks;
  {
    const Lock lock(state_.mutex);
    for (StreamIndex i = 0; i < state_.order.stream_count(); ++i) {
      for (const auto& marker : state_.order.stream(i).markers) looks.push_back({i, marker});
    }
  }
  std::vector<Look> done;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    const CUresult ended = driver_.cuEventQuery(looks[i].marker.event);
    note(ended);
    if (ended != CUDA_ERROR_NOT_READY) {
      done.push_back(looks[i]);
      continue;
    }
    while (i + 1 < looks.size() && looks[i + 1].stream == looks[i].stream) ++i;
  }
  bool waited_for = false;
  {
    const Lock lock(state_.mutex);
    const Nanoseconds now = state_.clock.now();
    for (const Look& look : done) {
      const Nanoseconds begin =
          state_.order.seen_completed(look.stream, look.marker, now, &state_.free_events);
      state_.advisor.completed(look.stream, look.marker.number, begin, now);
    }
    if (!done.empty()) state_.last_progress = now;
    waited_for = !state_.waiting.empty() || state_.held > 0;
  }
  return (waited_for && mark_streams()) || !done.empty();
}

// Records what is missing, where somebody waits for it.
bool Engine::mark_streams() {
  bool progress = false;
  std::size_t streams = 0;
  {
    const Lock lock(state_.mutex);
    if (state_.markers_held > 0) return false;
    streams = state_.order.stream_count();
    state_.marking = true;
  }
  for (StreamIndex i = 0; i < streams; ++i) progress |= mark(i);
  const Lock lock(state_.mutex);
  state_.marking = false;
  return progress;
}

bool Engine::mark(StreamIndex index) {
  Lock lock(state_.mutex);
  const StreamOrder::Stream& known = state_.order.stream(index);
  const std::uint64_t last = known.last_enqueued;
  if (known.gone || known.kind == StreamKind::kPerThread) return false;
  if (last <= std::max(known.last_marked, known.completed)) return false;
  const bool query_only = known.kind == StreamKind::kLegacy;  // an event there would order others' work
  const CUstream handle = known.handle;
  CUevent event = nullptr;
  if (!state_.free_events.empty()) {
    event = state_.free_events.back();
    state_.free_events.pop_back();
  }
  lock.unlock();
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  const bool capturing = driver_.cuStreamIsCapturing(handle, &capture) != CUDA_SUCCESS ||
                         capture != CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult ended = !capturing && query_only ? driver_.cuStreamQuery(handle) : CUDA_ERROR_NOT_READY;
  const bool idle = ended == CUDA_SUCCESS;
  note(ended);
  bool recorded = false;
  if (!capturing && !query_only) {
    CUresult result =
        event == nullptr ? driver_.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS) result = driver_.cuEventRecord(event, handle);
    note(result);
    recorded = result == CUDA_SUCCESS;
  }
  lock.lock();
  if (recorded) {
    state_.order.marker_recorded(index, {event, last, state_.clock.now()});
    count(state_.statistics.markers);
  } else if (event != nullptr) {
    state_.free_events.push_back(event);
  }
  if (idle) state_.order.completed_up_to(index, last, &state_.free_events);
  return recorded || idle;
}

}  // namespace tencache::vmm
