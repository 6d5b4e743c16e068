// cuMemAlloc and its kin, pinned host memory, and how much there is.
#include <sys/mman.h>

#include <utility>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/capture.hpp"
#include "tools/softgpu/driver/graph_memory.hpp"
#include "tools/softgpu/driver/memory.hpp"

namespace softgpu::api {
namespace {

constexpr std::uint64_t kPitchAlignment = 512;
constexpr std::uint64_t kHostPage = 4096;
constexpr unsigned kHostAllocFlags =
    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
constexpr unsigned kHostRegisterFlags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                                        CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;

CUresult ready_context(ContextPtr* context) {
  SOFTGPU_TRY(current_context(context));
  return refuse_in_capture();
}

bool is_freed_by_mem_free(const Range& range) {
  return range.kind == Range::Kind::kAllocation || range.kind == Range::Kind::kPool ||
         range.kind == Range::Kind::kManaged;
}

CUresult add_host_range(const ContextPtr& context, Range::Kind kind, void* memory, std::size_t bytes,
                        unsigned flags) {
  Range range;
  range.kind = kind;
  range.base = reinterpret_cast<std::uint64_t>(memory);
  range.bytes = bytes;
  range.device = context->device.ordinal;
  range.context = reinterpret_cast<CUcontext>(context.get());
  range.flags = flags;
  return machine().space.add_host(std::move(range));
}

CUresult allocate_host(const ContextPtr& context, Range::Kind kind, std::size_t bytes, unsigned flags,
                       void** result) {
  if (result == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  void* memory =
      mmap(nullptr, round_up(bytes, kHostPage), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  SOFTGPU_TRY(add_host_range(context, kind, memory, bytes, flags));
  *result = memory;
  return CUDA_SUCCESS;
}

// Everything on the device may use pinned memory, so it is idle before that goes.
CUresult remove_host(void* p, Range::Kind kind, CUresult otherwise) {
  ContextPtr context;
  SOFTGPU_TRY(ready_context(&context));
  const auto address = reinterpret_cast<std::uint64_t>(p);
  const auto found = machine().space.find(address);
  if (!found || found->base != address || found->kind != kind) return otherwise;
  machine().scheduler.wait_device(found->device);
  release_memory(address);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  ContextPtr context;
  SOFTGPU_TRY(current_context(&context));
  if (free != nullptr) *free = context->device.hbm.available();
  if (total != nullptr) *total = context->device.hbm.total();
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr* dptr, std::size_t bytesize) {
  ContextPtr context;
  SOFTGPU_TRY(ready_context(&context));
  if (dptr == nullptr || bytesize == 0) return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t address = 0;
  SOFTGPU_TRY(allocate_device(context->device.ordinal, reinterpret_cast<CUcontext>(context.get()),
                              Range::Kind::kAllocation, bytesize, &address));
  *dptr = address;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* dptr, std::size_t* pPitch, std::size_t WidthInBytes,
                            std::size_t Height, unsigned int ElementSizeBytes) {
  if (dptr == nullptr || pPitch == nullptr || WidthInBytes == 0 || Height == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16)
    return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t pitch = round_up(WidthInBytes, kPitchAlignment);
  if (pitch < WidthInBytes || Height > ~std::uint64_t{0} / pitch) return CUDA_ERROR_OUT_OF_MEMORY;
  SOFTGPU_TRY(cuMemAlloc_v2(dptr, pitch * Height));
  *pPitch = pitch;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocManaged(CUdeviceptr* dptr, std::size_t bytesize, unsigned int flags) {
  ContextPtr context;
  SOFTGPU_TRY(ready_context(&context));
  if (dptr == nullptr || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
    return CUDA_ERROR_INVALID_VALUE;
  void* memory = nullptr;
  SOFTGPU_TRY(allocate_host(context, Range::Kind::kManaged, bytesize, 0, &memory));
  *dptr = reinterpret_cast<CUdeviceptr>(memory);
  return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr dptr) {
  ContextPtr context;
  SOFTGPU_TRY(ready_context(&context));
  if (dptr == 0) return CUDA_SUCCESS;
  if (const auto graphs_own = find_graph_allocation(dptr))
    return graphs_own->free() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  const auto found = machine().space.find(dptr);
  if (!found || found->base != dptr || !is_freed_by_mem_free(*found)) return CUDA_ERROR_INVALID_VALUE;
  if (settings().free_waits != 0) machine().scheduler.wait_device(found->device);
  SOFTGPU_TRY(fate_of(*context->fate));
  return release_memory(dptr, is_freed_by_mem_free) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemHostAlloc(void** pp, std::size_t bytesize, unsigned int Flags) {
  ContextPtr context;
  SOFTGPU_TRY(ready_context(&context));
  if ((Flags & ~kHostAllocFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  return allocate_host(context, Range::Kind::kPinned, bytesize, Flags, pp);
}

CUresult cuMemAllocHost_v2(void** pp, std::size_t bytesize) { return cuMemHostAlloc(pp, bytesize, 0); }

CUresult cuMemFreeHost(void* p) { return remove_host(p, Range::Kind::kPinned, CUDA_ERROR_INVALID_VALUE); }

CUresult cuMemHostRegister_v2(void* p, std::size_t bytesize, unsigned int Flags) {
  ContextPtr context;
  SOFTGPU_TRY(ready_context(&context));
  const auto address = reinterpret_cast<std::uint64_t>(p);
  if (p == nullptr || bytesize == 0 || (Flags & ~kHostRegisterFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (machine().space.in_window(address)) return CUDA_ERROR_INVALID_VALUE;
  return add_host_range(context, Range::Kind::kRegistered, p, bytesize, Flags);
}

CUresult cuMemHostUnregister(void* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return remove_host(p, Range::Kind::kRegistered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* pdptr, void* p, unsigned int Flags) {
  ContextPtr context;
  SOFTGPU_TRY(current_context(&context));
  if (pdptr == nullptr || Flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const auto found = machine().space.find(reinterpret_cast<std::uint64_t>(p));
  if (!found || !found->is_host_kind()) return CUDA_ERROR_INVALID_VALUE;
  *pdptr = reinterpret_cast<CUdeviceptr>(p);
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned int* pFlags, void* p) {
  ContextPtr context;
  SOFTGPU_TRY(current_context(&context));
  const auto found = machine().space.find(reinterpret_cast<std::uint64_t>(p));
  if (pFlags == nullptr || !found || found->kind != Range::Kind::kPinned) return CUDA_ERROR_INVALID_VALUE;
  *pFlags = found->flags | CU_MEMHOSTALLOC_DEVICEMAP;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* pbase, std::size_t* psize, CUdeviceptr dptr) {
  ContextPtr context;
  SOFTGPU_TRY(current_context(&context));
  const auto found = machine().space.find(dptr);
  if (!found || found->kind == Range::Kind::kInternal) return CUDA_ERROR_NOT_FOUND;
  if (pbase != nullptr) *pbase = found->base;
  if (psize != nullptr) *psize = found->bytes;
  return CUDA_SUCCESS;
}

}  // namespace softgpu::api
