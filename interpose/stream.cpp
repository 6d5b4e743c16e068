// What streams tell us: that work is done, that one is about to go.
#include "interpose/handlers.gen.hpp"
#include "interpose/visit.hpp"

namespace tencache::doors::handlers {

CUresult cuStreamDestroy(const Genuine<decltype(&::cuStreamDestroy_v2)>& driver, CUstream stream) noexcept {
  const Visit visit;
  if (visit) visit->stream_about_to_be_destroyed(stream);
  return driver(stream);
}

CUresult cuStreamSynchronize(const Genuine<decltype(&::cuStreamSynchronize)>& driver,
                             CUstream stream) noexcept {
  const Visit visit;
  const CUresult result = driver(stream);
  if (visit && result == CUDA_SUCCESS) visit->stream_synchronized(driver.stream(stream));
  if (visit && result != CUDA_SUCCESS) visit->synchronization_failed(result);
  return result;
}

// A stream that waits for what is captured is captured from then on.
CUresult cuStreamWaitEvent(const Genuine<decltype(&::cuStreamWaitEvent)>& driver, CUstream stream,
                           CUevent event, unsigned flags) noexcept {
  const Visit visit;
  if (!visit || !is_capture_alive()) return driver(stream, event, flags);
  visit->capture_begins(driver.stream(stream));
  const CUresult result = driver(stream, event, flags);
  visit->capture_has_begun();
  return result;
}

CUresult cuStreamQuery(const Genuine<decltype(&::cuStreamQuery)>& driver, CUstream stream) noexcept {
  const Visit visit;
  const CUresult result = driver(stream);
  if (visit && result == CUDA_SUCCESS) visit->stream_synchronized(driver.stream(stream));
  if (visit && result != CUDA_SUCCESS) visit->synchronization_failed(result);
  return result;
}

}  // namespace tencache::doors::handlers
