// Stream capture: cuStreamBeginCapture, cuStreamBeginCaptureToGraph, cuStreamEndCapture,
// cuThreadExchangeStreamCaptureMode.
#include "interpose/capture.hpp"

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "interpose/handlers.gen.hpp"
#include "interpose/process.hpp"
#include "interpose/visit.hpp"

namespace tencache::doors {

std::atomic<unsigned> captures_alive{0};

namespace {

struct Capture {
  CUstream origin;
  CUstreamCaptureMode mode;
  std::thread::id thread;
};

std::mutex captures_mutex;

// Under captures_mutex. Left as they are at the end of the process, when other threads may still be in a
// door.
std::vector<Capture>& captures() {
  static std::vector<Capture>& lasting = *new std::vector<Capture>;
  return lasting;
}

// As the program set it for this thread.
constinit thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

void begun(CUstream origin, CUstreamCaptureMode mode) {
  const std::lock_guard<std::mutex> lock(captures_mutex);
  captures().push_back({origin, mode, std::this_thread::get_id()});
  captures_alive.store(static_cast<unsigned>(captures().size()), std::memory_order_relaxed);
}

void ended(CUstream origin) {
  const std::lock_guard<std::mutex> lock(captures_mutex);
  std::erase_if(captures(), [origin](const Capture& capture) { return capture.origin == origin; });
  captures_alive.store(static_cast<unsigned>(captures().size()), std::memory_order_relaxed);
}

// A capture that has become invalid ends as well.
bool is_end(CUresult result) {
  return result == CUDA_SUCCESS || result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
         result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

template <class Call>
CUresult begin(const Visit& visit, runtime::Stream stream, CUstreamCaptureMode mode, const Call& call) {
  if (!visit) return call();
  visit->capture_begins(stream);
  const CUresult result = call();
  visit->capture_has_begun();
  if (result == CUDA_SUCCESS) begun(stream.handle, mode);
  return result;
}

}  // namespace

bool ask_captured(runtime::Stream stream) noexcept {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return genuine_driver().cuStreamIsCapturing(stream.handle, &status) == CUDA_SUCCESS &&
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool is_forbidden_by_capture() noexcept {
  if (!is_capture_alive() || thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
  const std::lock_guard<std::mutex> lock(captures_mutex);
  return std::any_of(captures().begin(), captures().end(), [](const Capture& capture) {
    if (capture.thread == std::this_thread::get_id()) return capture.mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return capture.mode == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
  });
}

namespace handlers {

// The form before CUDA 10.1 has no mode: a capture was relaxed.
CUresult cuStreamBeginCapture(const Genuine<decltype(&::cuStreamBeginCapture)>& driver,
                              CUstream stream) noexcept {
  const Visit visit;
  return begin(visit, driver.stream(stream), CU_STREAM_CAPTURE_MODE_RELAXED, [&] { return driver(stream); });
}

CUresult cuStreamBeginCapture(const Genuine<decltype(&::cuStreamBeginCapture_v2)>& driver, CUstream stream,
                              CUstreamCaptureMode mode) noexcept {
  const Visit visit;
  return begin(visit, driver.stream(stream), mode, [&] { return driver(stream, mode); });
}

CUresult cuStreamBeginCaptureToGraph(const Genuine<decltype(&::cuStreamBeginCaptureToGraph)>& driver,
                                     CUstream stream, CUgraph graph, const CUgraphNode* dependencies,
                                     const CUgraphEdgeData* edges, std::size_t count,
                                     CUstreamCaptureMode mode) noexcept {
  const Visit visit;
  return begin(visit, driver.stream(stream), mode,
               [&] { return driver(stream, graph, dependencies, edges, count, mode); });
}

CUresult cuStreamEndCapture(const Genuine<decltype(&::cuStreamEndCapture)>& driver, CUstream stream,
                            CUgraph* graph) noexcept {
  const Visit visit;
  const CUresult result = driver(stream, graph);
  if (visit && is_end(result)) ended(driver.stream(stream).handle);
  return result;
}

CUresult cuThreadExchangeStreamCaptureMode(
    const Genuine<decltype(&::cuThreadExchangeStreamCaptureMode)>& driver,
    CUstreamCaptureMode* mode) noexcept {
  const Visit visit;
  const CUstreamCaptureMode wanted = mode == nullptr ? thread_mode : *mode;
  const CUresult result = driver(mode);
  if (visit && result == CUDA_SUCCESS) thread_mode = wanted;
  return result;
}

}  // namespace handlers
}  // namespace tencache::doors
