// Memory that is asked for outside any stream: device, managed, host, pools; and what the driver knows of it.
#include "tools/softgpu/cudart/call.hpp"

using namespace softgpu::cudart;

namespace {

// The element size that makes cuMemAllocPitch's pitch good for every access a thread can make.
constexpr unsigned int kPitchElementSize = 16;

// As with the genuine runtime, asking for nothing gives null and succeeds.
template <class Ask>
cudaError_t ask(void** pointer, bool nothing, Ask how) {
  if (pointer == nullptr) return remember(cudaErrorInvalidValue);
  return in_context([&] {
    if (!nothing) return how();
    *pointer = nullptr;
    return CUDA_SUCCESS;
  });
}

CUdeviceptr* as_device(void** pointer) { return same_layout<CUdeviceptr>(pointer); }

}  // namespace

cudaError_t cudaMalloc(void** pointer, size_t size) {
  return ask(pointer, size == 0, [&] { return driver.cuMemAlloc(as_device(pointer), size); });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return ask(pointer, width == 0 || height == 0, [&] {
    return driver.cuMemAllocPitch(as_device(pointer), pitch, width, height, kPitchElementSize);
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  pitched->xsize = extent.width;
  pitched->ysize = extent.height;
  return cudaMallocPitch(&pitched->ptr, &pitched->pitch, extent.width, extent.height * extent.depth);
}

cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned int flags) {
  return ask(pointer, false, [&] { return driver.cuMemAllocManaged(as_device(pointer), size, flags); });
}

cudaError_t cudaFree(void* pointer) {
  return in_context(
      [&] { return pointer == nullptr ? CUDA_SUCCESS : driver.cuMemFree(device_address(pointer)); });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return in_context([&] { return driver.cuMemGetInfo(free, total); });
}

cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned int flags) {
  return ask(pointer, size == 0, [&] { return driver.cuMemHostAlloc(pointer, size, flags); });
}

cudaError_t cudaMallocHost(void** pointer, size_t size) {
  return cudaHostAlloc(pointer, size, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void* pointer) {
  return in_context([&] { return pointer == nullptr ? CUDA_SUCCESS : driver.cuMemFreeHost(pointer); });
}

cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned int flags) {
  return in_context([&] { return driver.cuMemHostRegister(pointer, size, flags); });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return in_context([&] { return driver.cuMemHostUnregister(pointer); });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags) {
  return in_context([&] { return driver.cuMemHostGetDevicePointer(as_device(device), host, flags); });
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* host) {
  return in_context([&] { return driver.cuMemHostGetFlags(flags, host); });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return in_context([&] {
    unsigned int type = 0;
    int managed = 0;
    *attributes = {};
    attributes->device = cudaInvalidDeviceId;
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                   CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void* values[] = {&type, &managed, &attributes->device, &attributes->devicePointer,
                      &attributes->hostPointer};
    const CUresult result = driver.cuPointerGetAttributes(5, names, values, device_address(pointer));
    if (result != CUDA_SUCCESS) return result;
    if (managed != 0) {
      attributes->type = cudaMemoryTypeManaged;
    } else if (type != 0) {
      attributes->type = type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
    }
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaMemAdvise(const void* pointer, size_t size, cudaMemoryAdvise advice, cudaMemLocation place) {
  return in_context([&] {
    return driver.cuMemAdvise(device_address(pointer), size, static_cast<CUmem_advise>(advice),
                              *same_layout<CUmemLocation>(&place));
  });
}

cudaError_t cudaMemRangeGetAttribute(void* data, size_t data_size, cudaMemRangeAttribute attribute,
                                     const void* pointer, size_t size) {
  return in_context([&] {
    return driver.cuMemRangeGetAttribute(data, data_size, static_cast<CUmem_range_attribute>(attribute),
                                         device_address(pointer), size);
  });
}

cudaError_t cudaMemRangeGetAttributes(void** data, size_t* data_sizes, cudaMemRangeAttribute* attributes,
                                      size_t count, const void* pointer, size_t size) {
  return in_context([&] {
    return driver.cuMemRangeGetAttributes(data, data_sizes, same_layout<CUmem_range_attribute>(attributes),
                                          count, device_address(pointer), size);
  });
}
