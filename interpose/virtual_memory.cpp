// The program's own virtual memory. Its mappings are its own; ours are to it what cuMemAlloc's are, which no
// call here may change, and what gets hold of their pages freezes them.
#include "interpose/handlers.gen.hpp"
#include "interpose/visit.hpp"

namespace tencache::doors::handlers {

namespace {

bool is_ours(const Visit& visit, CUdeviceptr address) {
  if (!visit) return false;
  const runtime::Arena arena = visit->arena();
  return address - arena.base < arena.size;
}

// `call` takes or gives away a hold on the pages behind the address.
template <class Call>
CUresult hand_out(CUdeviceptr address, const Call& call) {
  const Visit visit;
  if (is_ours(visit, address) && !visit->freeze(address)) return CUDA_ERROR_OUT_OF_MEMORY;
  return visit.with_room(call);
}

}  // namespace

CUresult cuMemUnmap(const Genuine<decltype(&::cuMemUnmap)>& driver, CUdeviceptr ptr,
                    std::size_t size) noexcept {
  const Visit visit;
  return is_ours(visit, ptr) ? CUDA_ERROR_INVALID_VALUE : driver(ptr, size);
}

CUresult cuMemMap(const Genuine<decltype(&::cuMemMap)>& driver, CUdeviceptr ptr, std::size_t size,
                  std::size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) noexcept {
  const Visit visit;
  if (is_ours(visit, ptr)) return CUDA_ERROR_INVALID_VALUE;
  return visit.with_room([&] { return driver(ptr, size, offset, handle, flags); });
}

CUresult cuMemSetAccess(const Genuine<decltype(&::cuMemSetAccess)>& driver, CUdeviceptr ptr, std::size_t size,
                        const CUmemAccessDesc* descriptions, std::size_t count) noexcept {
  const Visit visit;
  return is_ours(visit, ptr) ? CUDA_ERROR_INVALID_VALUE : driver(ptr, size, descriptions, count);
}

CUresult cuMemAddressFree(const Genuine<decltype(&::cuMemAddressFree)>& driver, CUdeviceptr ptr,
                          std::size_t size) noexcept {
  const Visit visit;
  return is_ours(visit, ptr) ? CUDA_ERROR_INVALID_VALUE : driver(ptr, size);
}

CUresult cuMemRetainAllocationHandle(const Genuine<decltype(&::cuMemRetainAllocationHandle)>& driver,
                                     CUmemGenericAllocationHandle* handle, void* address) noexcept {
  return hand_out(reinterpret_cast<CUdeviceptr>(address), [&] { return driver(handle, address); });
}

CUresult cuMemGetHandleForAddressRange(const Genuine<decltype(&::cuMemGetHandleForAddressRange)>& driver,
                                       void* handle, CUdeviceptr dptr, std::size_t size,
                                       CUmemRangeHandleType type, unsigned long long flags) noexcept {
  return hand_out(dptr, [&] { return driver(handle, dptr, size, type, flags); });
}

CUresult cuMulticastBindAddr(const Genuine<decltype(&::cuMulticastBindAddr)>& driver,
                             CUmemGenericAllocationHandle multicast, std::size_t offset, CUdeviceptr dptr,
                             std::size_t size, unsigned long long flags) noexcept {
  return hand_out(dptr, [&] { return driver(multicast, offset, dptr, size, flags); });
}

}  // namespace tencache::doors::handlers
