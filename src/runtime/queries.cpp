// What a program may ask about memory: one consistent story over all tiers.
#include <algorithm>

#include "src/runtime/runtime_impl.hpp"

namespace tencache::runtime {

bool RuntimeImpl::memory_info(std::size_t* free_bytes, std::size_t* total_bytes) noexcept {
  ManagedDevice* device = current_device(true);
  if (device == nullptr) return false;
  const vmm::DeviceMemory::Figures figures = device->memory->figures();
  const Bytes granted = figures.capacity > figures.charged ? figures.capacity - figures.charged : Bytes();
  const bool all_tiers = options_.report == MemoryReport::kVirtual;
  const Bytes total = all_tiers ? figures.capacity : device->total;
  if (free_bytes != nullptr) *free_bytes = std::min(granted, total).count();
  if (total_bytes != nullptr) *total_bytes = total.count();
  return true;
}

bool RuntimeImpl::total_memory(CUdevice device, std::size_t* bytes) noexcept {
  if (options_.report != MemoryReport::kVirtual || device < 0 || device >= device_count_) return false;
  const ManagedDevice* managed = slots_[static_cast<std::size_t>(device)].managed.load();
  if (managed == nullptr || bytes == nullptr) return false;
  *bytes = managed->memory->figures().capacity.count();
  return true;
}

bool RuntimeImpl::address_range(CUdeviceptr address, CUdeviceptr* base, std::size_t* size) noexcept {
  ManagedDevice* device = device_at(address);
  CUcontext current = nullptr;
  if (device == nullptr || driver_.cuCtxGetCurrent(&current) != CUDA_SUCCESS || current == nullptr) {
    return false;  // without a context the driver has the code
  }
  const auto found = device->memory->find(address);
  if (!found) return false;
  if (base != nullptr) *base = found->base;
  if (size != nullptr) *size = found->allocation.asked.count();
  return true;
}

bool RuntimeImpl::pointer_attribute(void* data, CUpointer_attribute attribute, CUdeviceptr address,
                                    CUresult* result) noexcept {
  ManagedDevice* device = device_at(address);
  if (device == nullptr || data == nullptr) return false;
  const auto found = device->memory->find(address);
  if (!found) {
    *result = CUDA_ERROR_INVALID_VALUE;
    return true;
  }
  if (attribute == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE) {
    *static_cast<CUmemoryPool*>(data) = pools_.handle(PoolId{found->allocation.pool});
    *result = CUDA_SUCCESS;
    return true;
  }
  return managed_pointer_attribute(*device, *found, attribute, address, data, result);
}

// The driver refuses this attribute for mapped memory. The flag of the context does the same for all memory.
bool RuntimeImpl::set_pointer_attribute(const void* value, CUpointer_attribute attribute, CUdeviceptr address,
                                        CUresult* result) noexcept {
  ManagedDevice* device = device_at(address);
  if (device == nullptr || value == nullptr || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return false;
  if (driver_.cuCtxSetFlags == nullptr) return false;
  const bool synchronous = *static_cast<const unsigned*>(value) != 0;
  *result = CUDA_ERROR_INVALID_VALUE;
  if (!device->memory->set_synchronous(address, synchronous)) return true;
  *result = synchronous ? make_synchronous(*device) : CUDA_SUCCESS;
  return true;
}

CUresult RuntimeImpl::make_synchronous(const ManagedDevice& device) noexcept {
  kept_context_flags_ = CU_CTX_SYNC_MEMOPS;
  driver_.cuCtxPushCurrent_v2(device.context);
  unsigned flags = 0;
  CUresult result = driver_.cuCtxGetFlags(&flags);
  if (result == CUDA_SUCCESS) result = driver_.cuCtxSetFlags(flags | CU_CTX_SYNC_MEMOPS);
  CUcontext popped = nullptr;
  driver_.cuCtxPopCurrent_v2(&popped);
  return result;
}

}  // namespace tencache::runtime
