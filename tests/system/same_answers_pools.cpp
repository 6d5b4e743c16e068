// Scenarios of same_answers: pools, and what is freed by another call than its own.
#include <vector>

#include "tests/system/same_answers.hpp"

namespace {

// ---- pools

CUresult make_pool(CUmemoryPool* pool, CUmemLocationType where, CUmemAllocationHandleType handles) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.handleTypes = handles;
  properties.location = {where, {0}};
  return cuMemPoolCreate(pool, &properties);
}

void attributes(const char* when, CUmemoryPool pool) {
  std::printf("%s:\n", when);
  for (int which = CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES; which <= CU_MEMPOOL_ATTR_USED_MEM_HIGH;
       ++which) {
    cuuint64_t value = 0;
    const CUresult result = cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(which), &value);
    say("  attribute", result, value);
  }
}

void set(CUmemoryPool pool, CUmemPool_attribute attribute, cuuint64_t value) {
  say("set", cuMemPoolSetAttribute(pool, attribute, &value));
}

bool is_from(CUdeviceptr address, CUmemoryPool pool) {
  CUmemoryPool its = nullptr;
  say("pool of an address", cuPointerGetAttribute(&its, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
  return its == pool;
}

// ---- freed in the other world

void free_twice(const char* what, CUdeviceptr address, CUstream stream, bool async_first) {
  std::printf("%s:\n", what);
  say("first", async_first ? cuMemFreeAsync(address, stream) : cuMemFree(address));
  say("again", cuMemFreeAsync(address, stream));
  say("and again", cuMemFree(address));
  say("synchronize", cuStreamSynchronize(stream));
  say("after all", cuMemFree(address));
}

}  // namespace

void pool_counters() {
  const CUstream first = make_stream();
  const CUstream second = make_stream();
  CUmemoryPool pool = nullptr;
  say("create", make_pool(&pool, CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_HANDLE_TYPE_NONE));
  attributes("new", pool);
  CUdeviceptr a = 0, b = 0, c = 0;
  say("a", cuMemAllocFromPoolAsync(&a, kBytes, pool, first));
  say("b", cuMemAllocFromPoolAsync(&b, 3 * kBytes + 5, pool, first));
  say("synchronize", cuStreamSynchronize(first));
  attributes("two allocations", pool);
  say("from the pool", CUDA_SUCCESS, is_from(a, pool) && is_from(b + 100, pool));
  use(b, 3 * kBytes, 7);
  say("free b on another stream", cuMemFreeAsync(b, second));
  say("synchronize", cuStreamSynchronize(second));
  attributes("one freed", pool);
  set(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, 5);
  set(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, 0);
  set(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 123456);
  set(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, 0);
  set(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, 0);
  attributes("after settings", pool);
  say("trim", cuMemPoolTrimTo(pool, 0));
  say("c", cuMemAllocFromPoolAsync(&c, 2 * kBytes, pool, second));
  use(c, 2 * kBytes, 9);
  say("destroy with memory in use", cuMemPoolDestroy(pool));
  say("destroy again", cuMemPoolDestroy(pool));
  say("trim a destroyed one", cuMemPoolTrimTo(pool, 0));
  say("from a destroyed one", cuMemAllocFromPoolAsync(&b, kBytes, pool, first));
  use(a, kBytes, 8);
  say("free a", cuMemFree(a));
  say("free c", cuMemFreeAsync(c, first));
  say("synchronize", cuCtxSynchronize());
}

void pool_kinds() {
  CUmemoryPool own = nullptr, other = nullptr, known = nullptr, current = nullptr;
  const CUstream stream = make_stream();
  say("default", cuDeviceGetDefaultMemPool(&known, 0));
  say_whether("current", cuDeviceGetMemPool(&current, 0), current, known);
  say("create", make_pool(&own, CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_HANDLE_TYPE_NONE));
  say("on the host", make_pool(&other, CU_MEM_LOCATION_TYPE_HOST, CU_MEM_HANDLE_TYPE_NONE));
  say("exportable", make_pool(&other, CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  say("make current", cuDeviceSetMemPool(0, own));
  CUdeviceptr a = 0, b = 0;
  say("a", cuMemAllocAsync(&a, kBytes, stream));
  say("a is from it", CUDA_SUCCESS, is_from(a, own));
  attributes("own", own);
  attributes("default", known);
  say("destroy the current one", cuMemPoolDestroy(own));
  say_whether("current", cuDeviceGetMemPool(&current, 0), current, known);
  say("b", cuMemAllocAsync(&b, kBytes, stream));
  say("b is from the default", CUDA_SUCCESS, is_from(b, known));
  say("destroy the default one", cuMemPoolDestroy(known));
  say("wild pool", cuMemAllocFromPoolAsync(&b, kBytes, reinterpret_cast<CUmemoryPool>(kWild), stream));
  say("no pool", cuMemAllocFromPoolAsync(&b, kBytes, nullptr, stream));
  say("wild pool's attribute", cuMemPoolTrimTo(reinterpret_cast<CUmemoryPool>(kWild), 0));
}

void frees_across() {
  const CUstream stream = make_stream();
  CUdeviceptr address = 0;
  for (const bool async_first : {false, true}) {
    for (const std::size_t bytes : {std::size_t{100}, 2 * kBytes}) {
      say("allocate", cuMemAlloc(&address, bytes));
      use(address, bytes, 3);
      free_twice("of cuMemAlloc", address, stream, async_first);
      say("allocate", cuMemAllocAsync(&address, bytes, stream));
      say("synchronize", cuStreamSynchronize(stream));
      use(address, bytes, 4);
      free_twice("of cuMemAllocAsync", address, stream, async_first);
    }
  }
  std::vector<unsigned char> host(100);
  say("host", cuMemFreeAsync(reinterpret_cast<CUdeviceptr>(host.data()), stream));
  say("interior", cuMemAlloc(&address, kBytes));
  say("interior async", cuMemFreeAsync(address + 512, stream));
  say("no such stream", cuMemFreeAsync(address, reinterpret_cast<CUstream>(kWild)));
  say("still there", cuMemFree(address));
}
