// Allocation, free, and the pools that stream-ordered memory comes from.
#include "src/runtime/runtime_impl.hpp"

namespace tencache::runtime {

// ---- allocation

bool RuntimeImpl::is_served(const AllocationRequest& request, ManagedDevice& device, PoolId* pool) noexcept {
  if (request.kind != AllocationKind::kAsync && request.kind != AllocationKind::kPool) return true;
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult asked = driver_.cuStreamIsCapturing(request.stream.handle, &capture);
  if (asked != CUDA_SUCCESS || capture != CU_STREAM_CAPTURE_STATUS_NONE) return false;
  const bool named = request.kind == AllocationKind::kPool;
  *pool = named ? pools_.find(request.pool, device.device) : pools_.current(device.device);
  return *pool != PoolId::kNone;
}

Runtime::Verdict RuntimeImpl::allocate(const AllocationRequest& request, CUdeviceptr* address,
                                       CUresult* result) noexcept {
  if (request.size.count() == 0 || address == nullptr) return Verdict::kNotOurs;  // the driver has the code
  ManagedDevice* device = current_device(true);
  if (device == nullptr || device->memory->context_lost()) return Verdict::kNotOurs;
  PoolId pool = PoolId::kNone;
  if (!is_served(request, *device, &pool)) return Verdict::kNotOurs;
  const bool async = pool != PoolId::kNone;
  const vmm::AllocationAsk ask{request.size, async, 0, device->context, static_cast<std::uint32_t>(pool)};
  Result<CUdeviceptr> made = device->memory->allocate(ask, request.stream.handle, this_thread());
  *result = made.ok() ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  if (!made.ok()) return Verdict::kAnswered;
  *address = *made;
  if (async) pools_.allocated(pool, request.size);
  return Verdict::kAnswered;
}

// ---- free

CUresult RuntimeImpl::synchronize(const ManagedDevice& device) noexcept {
  driver_.cuCtxPushCurrent_v2(device.context);
  const CUresult waited = driver_.cuCtxSynchronize();
  CUcontext popped = nullptr;
  driver_.cuCtxPopCurrent_v2(&popped);
  return waited;
}

// Of the allocation that starts there; a double free is told by who frees.
void RuntimeImpl::count_freed(const vmm::DeviceMemory::Found& freed) noexcept {
  const PoolId pool{freed.allocation.pool};
  if (pool != PoolId::kNone) pools_.freed(pool, freed.allocation.asked);
}

// As cudaFree: everything enqueued before, on every stream, is done before the bytes change hands, and the
// call waits for it (kFreeWaits).
Runtime::Verdict RuntimeImpl::free_sync(CUdeviceptr address, CUresult* result) noexcept {
  ManagedDevice* device = device_at(address);
  CUcontext current = nullptr;
  if (device == nullptr || driver_.cuCtxGetCurrent(&current) != CUDA_SUCCESS || current == nullptr) {
    return Verdict::kNotOurs;  // without a context the driver has the code
  }
  *result = CUDA_ERROR_INVALID_VALUE;
  const auto found = device->memory->find(address);
  if (!found || found->base != address) return Verdict::kAnswered;
  const std::uint64_t number = device->memory->last_number();
  if (!device->memory->idle() || device->memory->context_lost()) {
    const CUresult waited = synchronize(*device);
    if (waited != CUDA_SUCCESS) {
      *result = waited;
      return Verdict::kAnswered;
    }
    device->memory->context_waited(number);
  }
  if (!device->memory->free_now(address)) return Verdict::kAnswered;
  count_freed(*found);
  *result = CUDA_SUCCESS;
  return Verdict::kAnswered;
}

Runtime::Verdict RuntimeImpl::free_in_capture(CUdeviceptr address, CUresult* result) noexcept {
  ManagedDevice* device = device_at(address);
  if (device == nullptr) return Verdict::kNotOurs;
  const auto found = device->memory->find(address);
  const bool freed = device->memory->free_behind_all(address);
  if (freed) count_freed(*found);
  *result = freed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  return Verdict::kAnswered;
}

Runtime::Verdict RuntimeImpl::free_async(CUdeviceptr address, Stream stream, CUresult* result) noexcept {
  ManagedDevice* device = device_at(address);
  if (device == nullptr) return Verdict::kNotOurs;
  if (device->memory->context_lost()) {
    *result = synchronize(*device);
    return Verdict::kAnswered;
  }
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  *result = driver_.cuStreamIsCapturing(stream.handle, &capture);
  if (*result != CUDA_SUCCESS) return Verdict::kAnswered;  // no such stream
  const auto found = device->memory->find(address);
  const bool freed = device->memory->free_behind(address, stream.handle, this_thread());
  if (freed) count_freed(*found);
  *result = freed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  return Verdict::kAnswered;
}

// ---- pools

void RuntimeImpl::pool_created(CUmemoryPool pool, const CUmemPoolProps& properties) noexcept {
  pools_.created(pool, properties);
}

void RuntimeImpl::pool_destroyed(CUmemoryPool pool) noexcept { pools_.destroyed(pool); }

void RuntimeImpl::pool_shared(CUmemoryPool pool, std::span<const CUmemAccessDesc> with) noexcept {
  for (const CUmemAccessDesc& one : with) {
    const bool device = one.location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    if (device && pools_.find(pool, one.location.id) != PoolId::kNone) continue;  // its own
    if (one.flags != CU_MEM_ACCESS_FLAGS_PROT_NONE) pools_.left_to_driver(pool);
  }
}

void RuntimeImpl::pools_changed() noexcept { pools_.current_may_have_changed(); }

void RuntimeImpl::pool_attribute_set(CUmemoryPool pool, CUmemPool_attribute attribute) noexcept {
  pools_.reset_high(pool, attribute);
}

void RuntimeImpl::add_pool_use(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) noexcept {
  const auto used = pools_.in_use(pool, attribute);
  if (used) *static_cast<cuuint64_t*>(value) += used->count();
}

// What is kept for the next ask of its size goes back to the driver.
void RuntimeImpl::pool_trimmed(CUmemoryPool) noexcept {
  if (ManagedDevice* device = current_device(false)) device->memory->give_idle_back();
}

}  // namespace tencache::runtime
