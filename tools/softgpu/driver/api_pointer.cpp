// What the driver says about an address.
#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/context.hpp"

namespace softgpu::api {
namespace {

template <class Value>
CUresult put(void* data, Value value) {
  *static_cast<Value*>(data) = value;
  return CUDA_SUCCESS;
}

bool is_mapping(const Range& range) { return range.kind == Range::Kind::kMapping; }

CUmemorytype memory_type(const Range& range) {
  const bool host = range.kind == Range::Kind::kPinned || range.kind == Range::Kind::kRegistered ||
                    (range.block != nullptr && range.block->is_host());
  return host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

// A mapping belongs to no context and keeps no allocation of its own.
CUresult answer(const Range& range, CUpointer_attribute attribute, CUdeviceptr ptr, void* data) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return put<CUcontext>(data, is_mapping(range) ? nullptr : range.context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put<unsigned>(data, memory_type(range));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put<CUdeviceptr>(data, ptr);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return range.is_host_kind() ? put<void*>(data, reinterpret_cast<void*>(ptr)) : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return put<unsigned>(data, range.synchronous ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return put<unsigned long long>(data, range.buffer_id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put<unsigned>(data, range.kind == Range::Kind::kManaged ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put<int>(data, range.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      return put<unsigned>(data, 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return put<CUdeviceptr>(data, range.base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return put<std::size_t>(data, range.bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put<int>(data, range.accessible ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return put<unsigned long long>(data, 0);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return put<unsigned>(data, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put<CUmemoryPool>(data, static_cast<CUmemoryPool>(range.pool));
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

std::size_t answer_bytes(CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return 4;
    default:
      return 8;
  }
}

std::optional<Range> find_range(CUdeviceptr ptr) {
  auto range = machine().space.find(ptr);
  if (range && range->kind == Range::Kind::kInternal) return std::nullopt;
  return range;
}

}  // namespace

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr ptr) {
  SOFTGPU_TRY(check_initialised());
  if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto range = find_range(ptr);
  return range ? answer(*range, attribute, ptr, data) : CUDA_ERROR_INVALID_VALUE;
}

// For an address the driver does not know every answer is zero, and for one attribute that does not apply as
// well; device ordinal -2 says 'not known'.
CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr ptr) {
  SOFTGPU_TRY(check_initialised());
  if (attributes == nullptr || data == nullptr || numAttributes == 0) return CUDA_ERROR_INVALID_VALUE;
  const auto range = find_range(ptr);
  for (unsigned i = 0; i < numAttributes; ++i) {
    if (range && answer(*range, attributes[i], ptr, data[i]) == CUDA_SUCCESS) continue;
    if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) {
      put<int>(data[i], -2);
    } else if (answer_bytes(attributes[i]) == 4) {
      put<unsigned>(data[i], 0);
    } else {
      put<std::uint64_t>(data[i], 0);
    }
  }
  return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr ptr) {
  SOFTGPU_TRY(check_initialised());
  if (value == nullptr || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return CUDA_ERROR_INVALID_VALUE;
  const auto range = find_range(ptr);
  if (!range) return CUDA_ERROR_INVALID_VALUE;
  if (is_mapping(*range)) return CUDA_ERROR_NOT_SUPPORTED;
  machine().space.set_synchronous(ptr, *static_cast<const unsigned*>(value) != 0);
  return CUDA_SUCCESS;
}

}  // namespace softgpu::api
