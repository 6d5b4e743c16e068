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

CUresult cuStreamQuery(const Genuine<decltype(&::cuStreamQuery)>& driver, CUstream stream) noexcept {
  const Visit visit;
  const CUresult result = driver(stream);
  if (visit && result == CUDA_SUCCESS) visit->stream_synchronized(driver.stream(stream));
  if (visit && result != CUDA_SUCCESS) visit->synchronization_failed(result);
  return result;
}

}  // namespace tencache::doors::handlers
