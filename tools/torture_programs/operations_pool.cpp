// Pools, managed memory, the program's own virtual memory, other contexts, and allocation in bursts.
#include <algorithm>
#include <vector>

#include "tools/torture_programs/operations.hpp"

namespace torture {

CUmemoryPool Executor::pool() {
  if (pool_ != nullptr) return pool_;
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  cuMemPoolCreate(&pool_, &properties);
  return pool_;
}

void Operations::kAllocateFromPool(Executor& x, const Operation& o) {
  const std::uint32_t bytes = 256 + o.operands[0] % (x.shape_.largest / 2) / 4 * 4;
  if (!x.has_room(bytes)) return;
  const std::size_t stream = x.stream_of(o.operands[1]);
  CUdeviceptr base = 0;
  const CUresult result = cuMemAllocFromPoolAsync(&base, bytes, x.pool(), x.streams_[stream]);
  x.line(o, result);
  if (result == CUDA_SUCCESS) x.first_write(x.add_buffer(base, bytes), stream, o);
}

void Operations::kPoolAttributes(Executor& x, const Operation& o) {
  std::uint64_t threshold = o.operands[0];
  x.line(o, cuMemPoolSetAttribute(x.pool(), CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  threshold = 0;
  CUresult result = cuMemPoolGetAttribute(x.pool(), CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
  x.line(o, result, threshold);
  int opportunistic = -1;
  result = cuMemPoolGetAttribute(x.pool(), CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &opportunistic);
  x.line(o, result, static_cast<std::uint64_t>(opportunistic));
}

void Operations::kPoolTrim(Executor& x, const Operation& o) {
  x.line(o, cuMemPoolTrimTo(x.pool(), o.operands[0] % 2 == 0 ? 0 : x.shape_.largest));
}

void Operations::kDefaultPool(Executor& x, const Operation& o) {
  CUmemoryPool first = nullptr, current = nullptr;
  x.line(o, cuDeviceGetDefaultMemPool(&first, 0));
  x.line(o, cuDeviceGetMemPool(&current, 0), [&] { return first == current ? 1 : 0; });
  x.line(o, cuMemPoolTrimTo(first, 0));
}

void Operations::kFreeAsyncTwice(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const std::size_t stream = x.stream_of(o.operands[1]);
  const CUdeviceptr base = x.buffers_[buffer].base;
  x.order(stream, {}, {buffer});
  x.line(o, cuMemFreeAsync(base, x.streams_[stream]));
  finish_free(x, buffer);
  x.line(o, cuMemFreeAsync(base, x.streams_[stream]));
}

void Operations::kFreeAsyncInterior(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  x.line(o, cuMemFreeAsync(x.buffers_[buffer].base + 4, x.streams_[x.stream_of(o.operands[1])]));
}

void Operations::kReallocate(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const std::uint32_t bytes = x.buffers_[buffer].bytes;
  x.line(o, cuMemFree(x.buffers_[buffer].base));
  finish_free(x, buffer);
  CUdeviceptr base = 0;
  const CUresult result = cuMemAlloc(&base, bytes);
  x.line(o, result);
  if (result == CUDA_SUCCESS) x.first_write(x.add_buffer(base, bytes), x.stream_of(o.operands[1]), o);
}

void Operations::kReallocateAsync(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const std::uint32_t bytes = x.buffers_[buffer].bytes;
  const std::size_t first = x.stream_of(o.operands[1]), second = x.stream_of(o.operands[2]);
  x.order(first, {}, {buffer});
  for (std::uint32_t i = 0; i < 4; ++i) fill_buffer(x, x.streams_[first], buffer, o.operands[3] + i);
  x.line(o, cuMemFreeAsync(x.buffers_[buffer].base, x.streams_[first]));
  finish_free(x, buffer);
  CUdeviceptr base = 0;
  const CUresult result = cuMemAllocAsync(&base, bytes, x.streams_[second]);
  x.line(o, result);
  if (result == CUDA_SUCCESS) x.first_write(x.add_buffer(base, bytes), second, o);
}

void Operations::kAllocateBurst(Executor& x, const Operation& o) {
  const std::uint32_t words = 1 + o.operands[0] % 300, count = 2 + o.operands[1] % 30;
  if (!x.has_room(std::uint64_t{words} * 4 * count)) return;
  std::vector<CUdeviceptr> small(count);
  std::uint64_t hash = 0;
  std::vector<std::uint32_t> read(words);
  for (CUdeviceptr& one : small) x.line(o, cuMemAlloc(&one, words * 4));
  for (std::uint32_t i = 0; i < count; ++i) cuMemsetD32(small[i], o.operands[2] + i, words);
  for (const CUdeviceptr one : small) {
    cuMemcpyDtoH(read.data(), one, words * 4);
    hash = hash * 31 + hash_bytes(read.data(), words * 4);
  }
  x.line(o, CUDA_SUCCESS, hash);
  std::reverse(small.begin(), small.begin() + count / 2);
  for (const CUdeviceptr one : small) x.line(o, cuMemFree(one));
}

void Operations::kManaged(Executor& x, const Operation& o) {
  const std::uint32_t bytes = 4096 + o.operands[0] % 32768 / 4 * 4;
  CUdeviceptr base = 0;
  x.line(o, cuMemAllocManaged(&base, bytes, CU_MEM_ATTACH_GLOBAL));
  x.line(o, cuMemsetD32(base, o.operands[1], bytes / 4));
  cuCtxSynchronize();
  x.all_completed();
  x.line(o, CUDA_SUCCESS, hash_bytes(reinterpret_cast<const void*>(base), bytes));
  x.line(o, cuMemFree(base));
}

// Reserve, create, map, use, and all of it back.
void Operations::kOwnMapping(Executor& x, const Operation& o) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  std::size_t size = 0;
  x.line(o, cuMemGetAllocationGranularity(&size, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  size *= 1 + o.operands[0] % 3;
  CUdeviceptr base = 0;
  CUmemGenericAllocationHandle handle = 0;
  const CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  x.line(o, cuMemAddressReserve(&base, size, 0, 0, 0));
  x.line(o, cuMemCreate(&handle, size, &properties, 0));
  x.line(o, cuMemMap(base, size, 0, handle, 0));
  x.line(o, cuMemSetAccess(base, size, &access, 1));
  x.line(o, cuMemsetD32(base, o.operands[1], size / 4));
  std::vector<std::uint8_t> bytes(size);
  const CUresult result = cuMemcpyDtoH(bytes.data(), base, size);
  x.line(o, result, hash_bytes(bytes.data(), size));
  settle(x);
  x.line(o, cuMemUnmap(base, size));
  x.line(o, cuMemRelease(handle));
  x.line(o, cuMemAddressFree(base, size));
}

void Operations::kOtherContext(Executor& x, const Operation& o) {
  settle(x);
  CUcontext context = nullptr;
  CUctxCreateParams parameters{};
  x.line(o, cuCtxCreate(&context, &parameters, 0, 0));
  const std::uint32_t bytes = 4096 + o.operands[0] % 8192 / 4 * 4;
  CUdeviceptr base = 0;
  x.line(o, cuMemAlloc(&base, bytes));
  x.line(o, cuMemsetD32(base, o.operands[1], bytes / 4));
  std::vector<std::uint8_t> read(bytes);
  const CUresult result = cuMemcpyDtoH(read.data(), base, bytes);
  x.line(o, result, hash_bytes(read.data(), bytes));
  x.line(o, cuMemFree(base));
  x.line(o, cuCtxDestroy(context));
  x.line(o, cuCtxSetCurrent(x.context_));
}

void Operations::kContextStack(Executor& x, const Operation& o) {
  CUcontext popped = nullptr;
  x.line(o, cuCtxPushCurrent(x.context_));
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer != kNone) {
    x.order(0, {}, {buffer});
    fill_buffer(x, CU_STREAM_LEGACY, buffer, o.operands[1]);
  }
  x.line(o, cuCtxPopCurrent(&popped), [&] { return popped == x.context_ ? 1 : 0; });
}

}  // namespace torture
