// Stream-ordered allocation. Memory is mapped at the call, and given back when the free's turn comes in its
// stream.
#include <utility>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/capture.hpp"
#include "tools/softgpu/driver/graph_memory.hpp"
#include "tools/softgpu/driver/graph_parameters.hpp"
#include "tools/softgpu/driver/memory.hpp"
#include "tools/softgpu/driver/pool.hpp"

namespace softgpu::api {
namespace {

CUresult find_pool(CUmemoryPool handle, PoolPtr* pool) {
  SOFTGPU_TRY(check_initialised());
  *pool = Pools::instance().find(handle);
  return *pool == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUmemoryPool handle_of(const PoolPtr& pool) { return reinterpret_cast<CUmemoryPool>(pool.get()); }

CUresult check_device(CUdevice device) {
  SOFTGPU_TRY(check_initialised());
  return device >= 0 && static_cast<std::size_t>(device) < machine().devices.size()
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_DEVICE;
}

CUresult is_captured(Stream& stream, bool* captured) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  SOFTGPU_TRY(capture_status(stream, &status));
  *captured = status != CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

// In a capture, the allocation is the graph's.
CUresult capture_allocation(CUdeviceptr* dptr, std::size_t bytesize, int device, Stream& stream) {
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  parameters.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, {device}};
  parameters.bytesize = bytesize;
  ContentsPtr contents;
  SOFTGPU_TRY(contents_of_allocation(&parameters, &contents));
  bool captured = false;
  SOFTGPU_TRY(capture_node(stream, contents, &captured));
  *dptr = parameters.dptr;
  return CUDA_SUCCESS;
}

CUresult capture_free(CUdeviceptr dptr, Stream& stream) {
  ContentsPtr contents;
  SOFTGPU_TRY(contents_of_free(dptr, &contents));
  bool captured = false;
  return capture_node(stream, contents, &captured);
}

CUresult allocate(CUdeviceptr* dptr, std::size_t bytesize, const PoolPtr& pool, Stream& stream) {
  if (dptr == nullptr || bytesize == 0) return CUDA_ERROR_INVALID_VALUE;
  bool captured = false;
  SOFTGPU_TRY(is_captured(stream, &captured));
  if (captured) return capture_allocation(dptr, bytesize, pool->device, stream);
  std::uint64_t address = 0;
  const auto make = [&] {
    return allocate_device(pool->device, stream.context_handle, Range::Kind::kPool, bytesize, &address,
                           pool.get());
  };
  CUresult result = make();
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    pool->wait_for_frees();
    result = make();
  }
  SOFTGPU_TRY(result);
  pool->add(bytesize);
  *dptr = address;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuMemAllocAsync(CUdeviceptr* dptr, std::size_t bytesize, CUstream hStream) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  return allocate(dptr, bytesize, current_pool(stream->queue->fate->device), *stream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* dptr, std::size_t bytesize, CUmemoryPool handle,
                                 CUstream hStream) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  PoolPtr pool;
  SOFTGPU_TRY(find_pool(handle, &pool));
  return allocate(dptr, bytesize, pool, *stream);
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  if (dptr == 0) return CUDA_SUCCESS;
  bool captured = false;
  SOFTGPU_TRY(is_captured(*stream, &captured));
  if (captured) return capture_free(dptr, *stream);
  if (const auto graphs_own = find_graph_allocation(dptr))
    return graphs_own->free() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  SOFTGPU_TRY(begin_async_free(dptr));
  Work work;
  work.engine = EngineKind::kCompute;
  work.body = [dptr](Progress&) { release_memory(dptr); };
  OperationPtr operation;
  SOFTGPU_TRY(submit(*stream, std::move(work), &operation));
  remember_free(machine().space.find(dptr), operation);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool_out, CUdevice dev) {
  SOFTGPU_TRY(check_device(dev));
  if (pool_out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *pool_out = handle_of(default_pool(dev));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice dev) {
  SOFTGPU_TRY(check_device(dev));
  if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *pool = handle_of(current_pool(dev));
  return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool handle) {
  SOFTGPU_TRY(check_device(dev));
  PoolPtr pool;
  SOFTGPU_TRY(find_pool(handle, &pool));
  if (pool->device != dev) return CUDA_ERROR_INVALID_VALUE;
  set_current_pool(dev, std::move(pool));
  return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* poolProps) {
  SOFTGPU_TRY(check_initialised());
  if (pool == nullptr || poolProps == nullptr || poolProps->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
    return CUDA_ERROR_INVALID_VALUE;
  if (poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
  if (poolProps->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
  SOFTGPU_TRY(check_device(poolProps->location.id));
  *pool = Pools::instance().add(std::make_shared<Pool>(poolProps->location.id));
  return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  PoolPtr pool;
  SOFTGPU_TRY(find_pool(handle, &pool));
  if (pool == default_pool(pool->device)) return CUDA_ERROR_INVALID_VALUE;
  if (pool == current_pool(pool->device)) set_current_pool(pool->device, default_pool(pool->device));
  Pools::instance().remove(handle);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, std::size_t) {
  PoolPtr pool;
  return find_pool(handle, &pool);
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attr, void* value) {
  PoolPtr pool;
  SOFTGPU_TRY(find_pool(handle, &pool));
  return value == nullptr ? CUDA_ERROR_INVALID_VALUE : pool->get(attr, value);
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attr, void* value) {
  PoolPtr pool;
  SOFTGPU_TRY(find_pool(handle, &pool));
  return value == nullptr ? CUDA_ERROR_INVALID_VALUE : pool->set(attr, value);
}

CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* map, std::size_t count) {
  PoolPtr pool;
  SOFTGPU_TRY(find_pool(handle, &pool));
  if (map == nullptr && count > 0) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i)
    if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || map[i].location.id != pool->device)
      return CUDA_ERROR_NOT_SUPPORTED;
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle, CUmemLocation* location) {
  PoolPtr pool;
  SOFTGPU_TRY(find_pool(handle, &pool));
  if (flags == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool own = location->type == CU_MEM_LOCATION_TYPE_DEVICE && location->id == pool->device;
  *flags = own ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return CUDA_SUCCESS;
}

}  // namespace softgpu::api
