// The virtual memory management API: host-immediate, no stream; addresses are dead between unmap and
// set-access.
#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/device/statistics.hpp"
#include "tools/softgpu/driver/call_costs.hpp"
#include "tools/softgpu/driver/capture.hpp"

namespace softgpu::api {
namespace {

// A handle's value names its block for ever: retaining a mapped block gives the value it was mapped by.
struct Handle {
  std::shared_ptr<PhysicalBlock> referenced;  // null once every reference is released
  std::uint64_t references = 0;
  CUmemAllocationProp properties{};
};
std::mutex handle_mutex;
std::map<CUmemGenericAllocationHandle, Handle>& handles() {
  static auto* const all = new std::map<CUmemGenericAllocationHandle, Handle>;
  return *all;
}
CUmemGenericAllocationHandle next_handle = 1;

CUresult ready() {
  SOFTGPU_TRY(check_initialised());
  return refuse_in_capture();
}

bool is_host(CUmemLocationType type) {
  return type == CU_MEM_LOCATION_TYPE_HOST || type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
         type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

CUresult check_location(const CUmemLocation& location) {
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE)
    return location.id >= 0 && static_cast<std::size_t>(location.id) < machine().devices.size()
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_DEVICE;
  if (!is_host(location.type)) return CUDA_ERROR_INVALID_VALUE;
  const bool plain = location.type == CU_MEM_LOCATION_TYPE_HOST;
  if (!is_listed(settings().host_locations, plain ? "host" : "host_numa")) return CUDA_ERROR_NOT_SUPPORTED;
  return location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA && location.id != 0 ? CUDA_ERROR_INVALID_VALUE
                                                                             : CUDA_SUCCESS;
}

CUresult check_properties(const CUmemAllocationProp* prop) {
  if (prop == nullptr || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
  return check_location(prop->location);
}

bool is_multiple(std::uint64_t value) { return value % settings().granularity == 0; }

std::shared_ptr<PhysicalBlock> create_block(const CUmemLocation& location, std::uint64_t bytes) {
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return PhysicalBlock::on_host(location.type, location.id, bytes);
  return PhysicalBlock::on_device(machine().device(location.id).hbm, location.id, bytes);
}

}  // namespace

CUresult cuMemGetAllocationGranularity(std::size_t* granularity, const CUmemAllocationProp* prop,
                                       CUmemAllocationGranularity_flags option) {
  SOFTGPU_TRY(check_initialised());
  if (granularity == nullptr || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
    return CUDA_ERROR_INVALID_VALUE;
  SOFTGPU_TRY(check_properties(prop));
  *granularity = settings().granularity;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* ptr, std::size_t size, std::size_t alignment, CUdeviceptr addr,
                             unsigned long long flags) {
  SOFTGPU_TRY(ready());
  if (ptr == nullptr || size == 0 || !is_multiple(size) || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if ((alignment & (alignment - 1)) != 0) return CUDA_ERROR_INVALID_VALUE;
  const auto lock = hold_call_lock(CallCost::kReserve);
  std::uint64_t address = 0;
  SOFTGPU_TRY(machine().space.reserve(size, std::max<std::uint64_t>(alignment, settings().granularity), addr,
                                      &address));
  *ptr = address;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr ptr, std::size_t size) {
  SOFTGPU_TRY(ready());
  const auto lock = hold_call_lock(CallCost::kReserve);
  return machine().space.free_reservation(ptr, size);
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t size, const CUmemAllocationProp* prop,
                     unsigned long long flags) {
  SOFTGPU_TRY(ready());
  if (handle == nullptr || size == 0 || !is_multiple(size) || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  SOFTGPU_TRY(check_properties(prop));
  count(statistics().vmm_creates);
  const auto lock = hold_call_lock(CallCost::kCreate);
  auto block = create_block(prop->location, size);
  if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::lock_guard handle_lock(handle_mutex);
  *handle = next_handle++;
  handles()[*handle] = {block, 1, *prop};
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  SOFTGPU_TRY(ready());
  const auto lock = hold_call_lock(CallCost::kRelease);
  std::shared_ptr<PhysicalBlock> dropped;  // its frames go back after the lock is released
  const std::lock_guard handle_lock(handle_mutex);
  const auto found = handles().find(handle);
  if (found == handles().end() || found->second.references == 0) return CUDA_ERROR_INVALID_VALUE;
  if (--found->second.references > 0) return CUDA_SUCCESS;
  dropped = std::move(found->second.referenced);
  if (dropped.use_count() == 1) {
    machine().device(0).let_go(dropped);
    handles().erase(found);
  }
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr ptr, std::size_t size, std::size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  SOFTGPU_TRY(ready());
  if (offset != 0 || flags != 0 || !is_multiple(size) || !is_multiple(ptr)) return CUDA_ERROR_INVALID_VALUE;
  count(statistics().vmm_maps);
  const auto lock = hold_call_lock(CallCost::kMap);
  std::shared_ptr<PhysicalBlock> block;
  {
    const std::lock_guard handle_lock(handle_mutex);
    const auto found = handles().find(handle);
    if (found == handles().end() || found->second.references == 0) return CUDA_ERROR_INVALID_VALUE;
    block = found->second.referenced;
  }
  if (size != block->bytes()) return CUDA_ERROR_INVALID_VALUE;
  return machine().space.map(ptr, std::move(block), handle);
}

CUresult cuMemUnmap(CUdeviceptr ptr, std::size_t size) {
  SOFTGPU_TRY(ready());
  count(statistics().vmm_unmaps);
  const auto lock = hold_call_lock(CallCost::kUnmap);
  std::vector<Range> removed;
  SOFTGPU_TRY(machine().space.unmap(ptr, size, &removed));
  for (const Range& range : removed) machine().device(range.device).let_go(range.block);
  return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr ptr, std::size_t size, const CUmemAccessDesc* desc,
                        std::size_t count_of) {
  SOFTGPU_TRY(ready());
  if (desc == nullptr || count_of == 0) return CUDA_ERROR_INVALID_VALUE;
  count(statistics().vmm_set_accesses);
  const auto lock = hold_call_lock(CallCost::kSetAccess);
  return machine().space.set_access(ptr, size, std::span(desc, count_of));
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr ptr) {
  SOFTGPU_TRY(check_initialised());
  if (flags == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return machine().space.access(ptr, *location, flags);
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* addr) {
  SOFTGPU_TRY(check_initialised());
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto range = machine().space.find(reinterpret_cast<std::uint64_t>(addr));
  if (!range || range->kind != Range::Kind::kMapping) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(handle_mutex);
  Handle& found = handles()[range->handle];
  found.referenced = range->block;
  ++found.references;
  *handle = range->handle;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* prop,
                                                CUmemGenericAllocationHandle handle) {
  SOFTGPU_TRY(check_initialised());
  const std::lock_guard lock(handle_mutex);
  const auto found = handles().find(handle);
  if (prop == nullptr || found == handles().end()) return CUDA_ERROR_INVALID_VALUE;
  *prop = found->second.properties;
  return CUDA_SUCCESS;
}

}  // namespace softgpu::api
