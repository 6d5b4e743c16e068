#include "tools/softgpu/driver/pool.hpp"

#include <algorithm>
#include <utility>

namespace softgpu {
namespace {

std::mutex pools_mutex;
std::map<int, PoolPtr>& default_pools() {
  static auto* const pools = new std::map<int, PoolPtr>;
  return *pools;
}
std::map<int, PoolPtr>& current_pools() {
  static auto* const pools = new std::map<int, PoolPtr>;
  return *pools;
}

PoolPtr default_pool_locked(int device) {
  PoolPtr& pool = default_pools()[device];
  if (pool == nullptr) {
    pool = std::make_shared<Pool>(device);
    Pools::instance().add(pool);
  }
  return pool;
}

}  // namespace

void Pool::add(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  used_ += bytes;
  most_used_ = std::max(most_used_, used_);
  most_reserved_ = std::max(most_reserved_, used_);
}

void Pool::remove(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  used_ -= bytes;
}

void Pool::free_enqueued(OperationPtr operation) {
  const std::lock_guard lock(mutex_);
  std::erase_if(frees_, [](const OperationPtr& each) { return each->complete.load(); });
  frees_.push_back(std::move(operation));
}

void Pool::wait_for_frees() {
  std::vector<OperationPtr> frees;
  {
    const std::lock_guard lock(mutex_);
    frees.swap(frees_);
  }
  for (const OperationPtr& operation : frees) machine().scheduler.wait(operation);
}

CUresult Pool::get(CUmemPool_attribute attribute, void* value) {
  const std::lock_guard lock(mutex_);
  auto* const wide = static_cast<cuuint64_t*>(value);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      *wide = release_threshold_;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      *wide = used_;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      *wide = most_used_;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      *wide = most_reserved_;
      return CUDA_SUCCESS;
    default:
      break;
  }
  const auto found = reuse_.find(attribute);
  if (found == reuse_.end()) return CUDA_ERROR_INVALID_VALUE;
  *static_cast<int*>(value) = found->second;
  return CUDA_SUCCESS;
}

CUresult Pool::set(CUmemPool_attribute attribute, const void* value) {
  const std::lock_guard lock(mutex_);
  const auto wide = [value] { return *static_cast<const cuuint64_t*>(value); };
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      release_threshold_ = wide();
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      if (wide() != 0) return CUDA_ERROR_INVALID_VALUE;
      (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH ? most_used_ : most_reserved_) = used_;
      return CUDA_SUCCESS;
    default:
      break;
  }
  const auto found = reuse_.find(attribute);
  if (found == reuse_.end()) return CUDA_ERROR_INVALID_VALUE;
  found->second = *static_cast<const int*>(value);
  return CUDA_SUCCESS;
}

PoolPtr default_pool(int device) {
  const std::lock_guard lock(pools_mutex);
  return default_pool_locked(device);
}

PoolPtr current_pool(int device) {
  const std::lock_guard lock(pools_mutex);
  const auto found = current_pools().find(device);
  return found == current_pools().end() ? default_pool_locked(device) : found->second;
}

void set_current_pool(int device, PoolPtr pool) {
  const std::lock_guard lock(pools_mutex);
  current_pools()[device] = std::move(pool);
}

CUresult begin_async_free(std::uint64_t address) {
  const auto freeable = [](const Range& range) {
    return range.kind == Range::Kind::kPool || range.kind == Range::Kind::kAllocation;
  };
  return machine().space.mark_freed(address, freeable) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void remember_free(const std::optional<Range>& range, OperationPtr operation) {
  if (!range || operation == nullptr) return;
  if (const PoolPtr pool = Pools::instance().find(static_cast<CUmemoryPool>(range->pool)))
    pool->free_enqueued(std::move(operation));
}

}  // namespace softgpu
