// The program's memory pools, whose allocations are served here where the pool is one of plain device memory:
// which pools those are, and how much of each is in use. Called by the runtime. Thread rule: from any thread.
// Failure rule: what is not known here is the driver's.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "src/base/units.hpp"
#include "src/driver/driver.hpp"

namespace tencache::runtime {

// Names a pool for good: the driver may give its handle to another one after it is gone.
enum class PoolId : std::uint32_t { kNone = 0 };

class Pools {
 public:
  explicit Pools(const Driver& driver) : driver_(driver) {}

  // The program has made one.
  void created(CUmemoryPool pool, const CUmemPoolProps& properties);
  void destroyed(CUmemoryPool pool);
  // Others than its device may use its memory, or shall: it is left to the driver from now on.
  void left_to_driver(CUmemoryPool pool);

  // kNone: not one that is served here.
  PoolId find(CUmemoryPool pool, CUdevice device);
  // The one that the device's allocations without a pool come from.
  PoolId current(CUdevice device);
  void current_may_have_changed();
  // Null: it is gone.
  CUmemoryPool handle(PoolId id);

  void allocated(PoolId id, Bytes size);
  void freed(PoolId id, Bytes size);
  // What is in use of it, as the driver counts it; none: another attribute, or another's pool.
  std::optional<Bytes> in_use(CUmemoryPool pool, CUmemPool_attribute attribute);
  void reset_high(CUmemoryPool pool, CUmemPool_attribute attribute);

 private:
  struct Pool {
    CUmemoryPool handle = nullptr;
    CUdevice device = 0;
    Bytes used;
    Bytes most_used;
    Bytes most_reserved;
  };
  PoolId add(CUmemoryPool pool, CUdevice device);
  PoolId find_locked(CUmemoryPool pool, CUdevice device);
  Pool* of_handle(CUmemoryPool pool);

  const Driver& driver_;
  std::mutex mutex_;
  std::uint32_t last_ = 0;
  std::map<PoolId, Pool> pools_;  // gone ones as long as memory of theirs lives
  std::map<CUmemoryPool, PoolId> ids_;
  std::map<CUdevice, PoolId> current_;
};

}  // namespace tencache::runtime
