// Memory pools. The driver keeps the pools; allocations from those of plain device memory are served by the
// runtime, which is told what a pool is and asked what is in use of it.
#include "interpose/handlers.gen.hpp"
#include "interpose/visit.hpp"

namespace tencache::doors::handlers {

namespace {

// `call` may have changed which pool a device's allocations come from.
template <class Call>
CUresult choose_pool(const Call& call) {
  const Visit visit;
  const CUresult result = call();
  if (visit) visit->pools_changed();
  return result;
}

}  // namespace

CUresult cuMemPoolCreate(const Genuine<decltype(&::cuMemPoolCreate)>& driver, CUmemoryPool* pool,
                         const CUmemPoolProps* properties) noexcept {
  const Visit visit;
  const CUresult result = visit.with_room([&] { return driver(pool, properties); });
  if (visit && result == CUDA_SUCCESS) visit->pool_created(*pool, *properties);
  return result;
}

CUresult cuMemPoolDestroy(const Genuine<decltype(&::cuMemPoolDestroy)>& driver, CUmemoryPool pool) noexcept {
  const Visit visit;
  const CUresult result = driver(pool);
  if (visit && result == CUDA_SUCCESS) visit->pool_destroyed(pool);
  return result;
}

CUresult cuMemPoolTrimTo(const Genuine<decltype(&::cuMemPoolTrimTo)>& driver, CUmemoryPool pool,
                         std::size_t kept) noexcept {
  const Visit visit;
  const CUresult result = driver(pool, kept);
  if (visit && result == CUDA_SUCCESS) visit->pool_trimmed(pool);
  return result;
}

CUresult cuMemPoolGetAttribute(const Genuine<decltype(&::cuMemPoolGetAttribute)>& driver, CUmemoryPool pool,
                               CUmemPool_attribute attribute, void* value) noexcept {
  const Visit visit;
  const CUresult result = driver(pool, attribute, value);
  if (visit && result == CUDA_SUCCESS) visit->add_pool_use(pool, attribute, value);
  return result;
}

CUresult cuMemPoolSetAttribute(const Genuine<decltype(&::cuMemPoolSetAttribute)>& driver, CUmemoryPool pool,
                               CUmemPool_attribute attribute, void* value) noexcept {
  const Visit visit;
  const CUresult result = driver(pool, attribute, value);
  if (visit && result == CUDA_SUCCESS) visit->pool_attribute_set(pool, attribute);
  return result;
}

CUresult cuMemPoolSetAccess(const Genuine<decltype(&::cuMemPoolSetAccess)>& driver, CUmemoryPool pool,
                            const CUmemAccessDesc* descriptions, std::size_t count) noexcept {
  const Visit visit;
  const CUresult result = driver(pool, descriptions, count);
  if (visit && result == CUDA_SUCCESS) visit->pool_shared(pool, {descriptions, count});
  return result;
}

CUresult cuDeviceSetMemPool(const Genuine<decltype(&::cuDeviceSetMemPool)>& driver, CUdevice device,
                            CUmemoryPool pool) noexcept {
  return choose_pool([&] { return driver(device, pool); });
}

CUresult cuMemSetMemPool(const Genuine<decltype(&::cuMemSetMemPool)>& driver, CUmemLocation* location,
                         CUmemAllocationType type, CUmemoryPool pool) noexcept {
  return choose_pool([&] { return driver(location, type, pool); });
}

}  // namespace tencache::doors::handlers
