// The allocations: cuMemAlloc, cuMemAllocPitch, cuMemAllocAsync, cuMemAllocFromPoolAsync. What the driver
// refuses by itself (no place for the answer, size 0) is left to it, so that the codes are its own.
#include "interpose/handlers.gen.hpp"
#include "interpose/pitch.hpp"
#include "interpose/visit.hpp"

namespace tencache::doors::handlers {

namespace {

template <class Call>
CUresult allocate(const Visit& visit, const runtime::AllocationRequest& request, CUdeviceptr* address,
                  const Call& call) {
  if (!visit || address == nullptr || request.size == 0_B) return visit.with_room(call);
  if (request.stream.handle == nullptr && is_forbidden_by_capture()) return call();
  CUresult result;
  if (visit->allocate(request, address, &result) == runtime::Runtime::Verdict::kAnswered) return result;
  return visit.with_room(call);
}

}  // namespace

CUresult cuMemAlloc(const Genuine<decltype(&::cuMemAlloc_v2)>& driver, CUdeviceptr* dptr,
                    std::size_t bytesize) noexcept {
  const Visit visit;
  return allocate(visit, {runtime::AllocationKind::kSync, Bytes(bytesize), {}, nullptr, driver.caller()},
                  dptr, [&] { return driver(dptr, bytesize); });
}

CUresult cuMemAllocPitch(const Genuine<decltype(&::cuMemAllocPitch_v2)>& driver, CUdeviceptr* dptr,
                         std::size_t* pitch, std::size_t width, std::size_t height,
                         unsigned element_size) noexcept {
  const Visit visit;
  const auto call = [&] { return driver(dptr, pitch, width, height, element_size); };
  const std::size_t row = visit && pitch != nullptr && !is_forbidden_by_capture()
                              ? pitch_of_driver(visit, driver, width, element_size)
                              : 0;
  std::size_t size = 0;
  if (row == 0 || __builtin_mul_overflow(row, height, &size)) return visit.with_room(call);
  bool served_by_driver = false;
  const CUresult result = allocate(
      visit, {runtime::AllocationKind::kPitched, Bytes(size), {}, nullptr, driver.caller()}, dptr, [&] {
        served_by_driver = true;
        return call();
      });
  if (result == CUDA_SUCCESS && !served_by_driver) *pitch = row;
  return result;
}

CUresult cuMemAllocAsync(const Genuine<decltype(&::cuMemAllocAsync)>& driver, CUdeviceptr* dptr,
                         std::size_t bytesize, CUstream stream) noexcept {
  const Visit visit;
  return allocate(
      visit,
      {runtime::AllocationKind::kAsync, Bytes(bytesize), driver.stream(stream), nullptr, driver.caller()},
      dptr, [&] { return driver(dptr, bytesize, stream); });
}

CUresult cuMemAllocFromPoolAsync(const Genuine<decltype(&::cuMemAllocFromPoolAsync)>& driver,
                                 CUdeviceptr* dptr, std::size_t bytesize, CUmemoryPool pool,
                                 CUstream stream) noexcept {
  const Visit visit;
  return allocate(
      visit, {runtime::AllocationKind::kPool, Bytes(bytesize), driver.stream(stream), pool, driver.caller()},
      dptr, [&] { return driver(dptr, bytesize, pool, stream); });
}

}  // namespace tencache::doors::handlers
