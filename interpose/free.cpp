// The frees: cuMemFree, cuMemFreeAsync. Routed by who owns the address, not by which call it is.
#include "interpose/handlers.gen.hpp"
#include "interpose/process.hpp"
#include "interpose/visit.hpp"

namespace tencache::doors::handlers {

// Once we are passive the driver says how it is with it, without an address that it does not know.
CUresult cuMemFree(const Genuine<decltype(&::cuMemFree_v2)>& driver, CUdeviceptr dptr) noexcept {
  const Visit visit;
  CUresult result;
  if (visit && !is_forbidden_by_capture()) {
    const auto verdict =
        is_capture_alive() ? visit->free_in_capture(dptr, &result) : visit->free_sync(dptr, &result);
    if (verdict == runtime::Runtime::Verdict::kAnswered) return result;
  }
  return driver(was_ours(dptr) ? 0 : dptr);
}

CUresult cuMemFreeAsync(const Genuine<decltype(&::cuMemFreeAsync)>& driver, CUdeviceptr dptr,
                        CUstream stream) noexcept {
  const Visit visit;
  CUresult result;
  if (visit && !is_captured(driver.stream(stream)) &&
      visit->free_async(dptr, driver.stream(stream), &result) == runtime::Runtime::Verdict::kAnswered) {
    return result;
  }
  return driver(was_ours(dptr) ? 0 : dptr, stream);
}

}  // namespace tencache::doors::handlers
