// Events: records, waits, times.
#include <utility>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/call_costs.hpp"
#include "tools/softgpu/driver/capture.hpp"

namespace softgpu::api {
namespace {

constexpr unsigned kEventFlags = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;

CUresult find_event(CUevent handle, std::shared_ptr<Event>* event) {
  SOFTGPU_TRY(check_initialised());
  *event = Events::instance().find(handle);
  return *event == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUevent handle_of(const std::shared_ptr<Event>& event) { return reinterpret_cast<CUevent>(event.get()); }

OperationPtr last_record(Event& event) {
  const std::lock_guard lock(event.mutex);
  return event.record;
}

// Seen from outside a capture, an event in it is a node; else it only says what follows what.
CUresult record_in_capture(const std::shared_ptr<Event>& event, Stream& stream, bool external,
                           bool* captured) {
  if (!external) return capture_event_record(stream, *event, captured);
  return capture_node(stream, contents_of(EventNode{handle_of(event), false}), captured);
}

CUresult record(const std::shared_ptr<Event>& event, Stream& stream, bool external) {
  if (event->fate->device != stream.queue->fate->device) return CUDA_ERROR_INVALID_HANDLE;
  bool captured = false;
  SOFTGPU_TRY(record_in_capture(event, stream, external, &captured));
  if (captured) return CUDA_SUCCESS;
  pass_call_lock(CallCost::kEventRecord);
  OperationPtr operation;
  SOFTGPU_TRY(submit(stream, Work{}, &operation));
  const std::lock_guard lock(event->mutex);
  event->capture.reset();
  event->record = std::move(operation);
  return CUDA_SUCCESS;
}

CUresult end_of(Event& event, std::uint64_t* end) {
  if ((event.flags & CU_EVENT_DISABLE_TIMING) != 0) return CUDA_ERROR_INVALID_HANDLE;
  const OperationPtr operation = last_record(event);
  if (operation == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!operation->complete.load()) return CUDA_ERROR_NOT_READY;
  *end = operation->end.load();
  return fate_of(*event.fate);
}

}  // namespace

CUresult cuEventCreate(CUevent* phEvent, unsigned int Flags) {
  ContextPtr context;
  SOFTGPU_TRY(current_context(&context));
  if (phEvent == nullptr || (Flags & ~kEventFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  if ((Flags & CU_EVENT_INTERPROCESS) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  auto event = std::make_shared<Event>();
  event->context_handle = reinterpret_cast<CUcontext>(context.get());
  event->fate = context->fate;
  event->flags = Flags;
  *phEvent = Events::instance().add(std::move(event));
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent hEvent) {
  SOFTGPU_TRY(check_initialised());
  return Events::instance().remove(hEvent) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent hEvent, CUstream hStream) {
  return api::cuEventRecordWithFlags(hEvent, hStream, 0);
}

CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  std::shared_ptr<Event> event;
  SOFTGPU_TRY(find_event(hEvent, &event));
  if (flags > CU_EVENT_RECORD_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  return record(event, *stream, flags == CU_EVENT_RECORD_EXTERNAL);
}

CUresult cuEventQuery(CUevent hEvent) {
  std::shared_ptr<Event> event;
  SOFTGPU_TRY(find_event(hEvent, &event));
  SOFTGPU_TRY(fate_of(*event->fate));
  {
    const std::lock_guard lock(event->mutex);
    if (event->capture != nullptr) return CUDA_ERROR_CAPTURED_EVENT;
  }
  SOFTGPU_TRY(refuse_in_capture());
  const OperationPtr operation = last_record(*event);
  if (operation != nullptr && !operation->complete.load()) return CUDA_ERROR_NOT_READY;
  return fate_of(*event->fate);
}

CUresult cuEventSynchronize(CUevent hEvent) {
  std::shared_ptr<Event> event;
  SOFTGPU_TRY(find_event(hEvent, &event));
  SOFTGPU_TRY(fate_of(*event->fate));
  {
    const std::lock_guard lock(event->mutex);
    if (event->capture != nullptr) return CUDA_ERROR_CAPTURED_EVENT;
  }
  SOFTGPU_TRY(refuse_in_capture());
  return wait_for(*event->fate, last_record(*event));
}

CUresult cuEventElapsedTime_v2(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
  std::shared_ptr<Event> first;
  std::shared_ptr<Event> second;
  SOFTGPU_TRY(find_event(hStart, &first));
  SOFTGPU_TRY(find_event(hEnd, &second));
  if (pMilliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  SOFTGPU_TRY(end_of(*first, &start));
  SOFTGPU_TRY(end_of(*second, &end));
  *pMilliseconds = static_cast<float>((static_cast<double>(end) - static_cast<double>(start)) / 1e6);
  return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
  return api::cuEventElapsedTime_v2(pMilliseconds, hStart, hEnd);
}

CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  std::shared_ptr<Event> event;
  SOFTGPU_TRY(find_event(hEvent, &event));
  if (Flags > CU_EVENT_WAIT_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  bool captured = false;
  const bool external = Flags == CU_EVENT_WAIT_EXTERNAL;
  SOFTGPU_TRY(external ? capture_node(*stream, contents_of(EventNode{hEvent, true}), &captured)
                       : capture_event_wait(*stream, *event, &captured));
  if (captured) return CUDA_SUCCESS;
  const OperationPtr operation = last_record(*event);
  if (operation == nullptr || operation->complete.load()) return fate_of(*stream->fate);
  return submit(*stream, Work{}, nullptr, {operation});
}

}  // namespace softgpu::api
