// Memory pools: what is in use, and the frees that have not run yet. Called by the pool entry points. Thread
// rule: any thread. Failure rule: CUresult.
#pragma once

#include <cuda.h>

#include <optional>

#include "tools/softgpu/driver/context.hpp"

namespace softgpu {

class Pool {
 public:
  explicit Pool(int ordinal) : device(ordinal) {}
  const int device;

  void add(std::uint64_t bytes);
  void remove(std::uint64_t bytes);
  void free_enqueued(OperationPtr operation);
  // What a driver does before it answers 'out of memory'.
  void wait_for_frees();
  CUresult get(CUmemPool_attribute attribute, void* value);
  CUresult set(CUmemPool_attribute attribute, const void* value);

 private:
  std::mutex mutex_;
  std::uint64_t used_ = 0;
  std::uint64_t most_used_ = 0;
  std::uint64_t most_reserved_ = 0;
  std::uint64_t release_threshold_ = 0;
  std::map<CUmemPool_attribute, int> reuse_{{CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, 1},
                                            {CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, 1},
                                            {CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, 1}};
  std::vector<OperationPtr> frees_;
};
using PoolPtr = std::shared_ptr<Pool>;
using Pools = Registry<Pool, CUmemoryPool>;

PoolPtr default_pool(int device);
PoolPtr current_pool(int device);
void set_current_pool(int device, PoolPtr pool);

// Refuses an address that is no live allocation, or whose free is enqueued already.
CUresult begin_async_free(std::uint64_t address);
void remember_free(const std::optional<Range>& range, OperationPtr operation);

}  // namespace softgpu
