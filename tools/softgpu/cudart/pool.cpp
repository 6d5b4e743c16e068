// Memory pools of the stream-ordered allocator.
#include "tools/softgpu/cudart/call.hpp"

using namespace softgpu::cudart;

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return in_context([&] { return driver.cuDeviceGetDefaultMemPool(pool, device); });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return in_context([&] { return driver.cuDeviceGetMemPool(pool, device); });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return in_context([&] { return driver.cuDeviceSetMemPool(device, pool); });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return in_context([&] { return driver.cuMemPoolCreate(pool, same_layout<CUmemPoolProps>(properties)); });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return in_context([&] { return driver.cuMemPoolDestroy(pool); });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep) {
  return in_context([&] { return driver.cuMemPoolTrimTo(pool, keep); });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return in_context(
      [&] { return driver.cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value); });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return in_context(
      [&] { return driver.cuMemPoolSetAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value); });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* place) {
  return in_context([&] {
    return driver.cuMemPoolGetAccess(same_layout<CUmemAccess_flags>(flags), pool,
                                     same_layout<CUmemLocation>(place));
  });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* descriptors, size_t count) {
  return in_context(
      [&] { return driver.cuMemPoolSetAccess(pool, same_layout<CUmemAccessDesc>(descriptors), count); });
}
