#include "src/runtime/pools.hpp"

#include <algorithm>

namespace tencache::runtime {

namespace {

// Plain memory of a device, for this process alone.
bool is_plain(const CUmemPoolProps& properties) {
  return properties.allocType == CU_MEM_ALLOCATION_TYPE_PINNED &&
         properties.handleTypes == CU_MEM_HANDLE_TYPE_NONE &&
         properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE;
}

}  // namespace

PoolId Pools::add(CUmemoryPool pool, CUdevice device) {
  const PoolId id{++last_};
  pools_[id] = {pool, device, {}, {}, {}};
  ids_[pool] = id;
  return id;
}

void Pools::created(CUmemoryPool pool, const CUmemPoolProps& properties) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_plain(properties)) add(pool, properties.location.id);
}

void Pools::destroyed(CUmemoryPool pool) {
  const std::lock_guard<std::mutex> lock(mutex_);
  current_.clear();
  const auto found = ids_.find(pool);
  if (found == ids_.end()) return;
  const auto its = pools_.find(found->second);
  its->second.handle = nullptr;
  if (its->second.used == Bytes()) pools_.erase(its);
  ids_.erase(found);
}

void Pools::left_to_driver(CUmemoryPool pool) {
  const std::lock_guard<std::mutex> lock(mutex_);
  current_.clear();
  ids_[pool] = PoolId::kNone;
}

PoolId Pools::find(CUmemoryPool pool, CUdevice device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return find_locked(pool, device);
}

// A device's default pool was made by nobody.
PoolId Pools::find_locked(CUmemoryPool pool, CUdevice device) {
  const auto found = ids_.find(pool);
  if (found == ids_.end()) {
    CUmemoryPool its_default = nullptr;
    const auto ask = driver_.cuDeviceGetDefaultMemPool;
    const bool is_default =
        ask != nullptr && ask(&its_default, device) == CUDA_SUCCESS && its_default == pool;
    return is_default ? add(pool, device) : PoolId::kNone;
  }
  const auto its = pools_.find(found->second);
  return its != pools_.end() && its->second.device == device ? found->second : PoolId::kNone;
}

PoolId Pools::current(CUdevice device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = current_.find(device);
  if (known != current_.end()) return known->second;
  CUmemoryPool pool = nullptr;
  const auto ask = driver_.cuDeviceGetMemPool;
  if (ask == nullptr || ask(&pool, device) != CUDA_SUCCESS) return PoolId::kNone;
  return current_[device] = find_locked(pool, device);
}

void Pools::current_may_have_changed() {
  const std::lock_guard<std::mutex> lock(mutex_);
  current_.clear();
}

CUmemoryPool Pools::handle(PoolId id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = pools_.find(id);
  return found == pools_.end() ? nullptr : found->second.handle;
}

void Pools::allocated(PoolId id, Bytes size) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = pools_.find(id);
  if (found == pools_.end()) return;
  Pool& pool = found->second;
  pool.used += size;
  pool.most_used = std::max(pool.most_used, pool.used);
  pool.most_reserved = std::max(pool.most_reserved, pool.used);
}

void Pools::freed(PoolId id, Bytes size) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = pools_.find(id);
  if (found == pools_.end()) return;
  found->second.used -= size;
  if (found->second.handle == nullptr && found->second.used == Bytes()) pools_.erase(found);
}

Pools::Pool* Pools::of_handle(CUmemoryPool pool) {
  const auto id = ids_.find(pool);
  const auto found = id == ids_.end() ? pools_.end() : pools_.find(id->second);
  return found == pools_.end() ? nullptr : &found->second;
}

std::optional<Bytes> Pools::in_use(CUmemoryPool pool, CUmemPool_attribute attribute) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Pool* const known = of_handle(pool);
  if (known == nullptr) return std::nullopt;
  switch (attribute) {
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      return known->used;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      return known->most_used;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      return known->most_reserved;
    default:
      return std::nullopt;
  }
}

void Pools::reset_high(CUmemoryPool pool, CUmemPool_attribute attribute) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Pool* const known = of_handle(pool);
  if (known == nullptr) return;
  if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH) known->most_used = known->used;
  if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) known->most_reserved = known->used;
}

}  // namespace tencache::runtime
