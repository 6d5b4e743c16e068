// What a program may ask about a pointer: answered as for memory from cudaMalloc, wherever it lies now.

#include "src/runtime/runtime_impl.hpp"

namespace tencache::runtime {

namespace {

template <class T>
bool answer(void* data, T value, CUresult* result) {
  *static_cast<T*>(data) = value;
  *result = CUDA_SUCCESS;
  return true;
}

}  // namespace

bool managed_pointer_attribute(const ManagedDevice& device, const vmm::DeviceMemory::Found& found,
                               CUpointer_attribute attribute, CUdeviceptr address, void* data,
                               CUresult* result) noexcept {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return answer(data, device.context, result);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return answer(data, static_cast<unsigned>(CU_MEMORYTYPE_DEVICE), result);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return answer(data, address, result);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      *result = CUDA_ERROR_INVALID_VALUE;  // device memory has none
      return true;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return answer(data, static_cast<unsigned long long>(found.allocation.buffer_id), result);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return answer(data, found.allocation.synchronous ? 1u : 0u, result);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return answer(data, 0u, result);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return answer(data, static_cast<int>(device.device), result);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return answer(data, found.base, result);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return answer(data, found.allocation.asked.count(), result);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return answer(data, 1u, result);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return answer(data, 0ull, result);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return answer(data, static_cast<unsigned>(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE), result);
    default:
      return false;
  }
}

}  // namespace tencache::runtime
