// Where the blocks of a tier come from: device memory or host memory through the driver's virtual memory
// management, or pinned host memory that is never mapped at a program's address (detached mode). Called by
// the block pools, on the engine's thread. Thread rule: one caller at a time. Failure rule: `create` undoes
// exactly what it did and answers the driver's code.
#pragma once

#include <cuda.h>

#include "src/base/status.hpp"
#include "src/base/units.hpp"
#include "src/driver/driver.hpp"
#include "vmm/range_allocator.hpp"

namespace tencache::vmm {

// A piece of physical memory. `address` is where our own copies reach it: an alias mapping that never
// changes, or pinned host memory.
struct Block {
  CUmemGenericAllocationHandle handle = 0;  // 0: pinned host memory, cannot be mapped
  CUdeviceptr address = 0;
  Bytes size;
};

class BlockSource {
 public:
  virtual ~BlockSource() = default;
  virtual Result<Block> create(Bytes size) = 0;
  virtual void destroy(const Block& block) = 0;
};

class VmmBlockSource final : public BlockSource {
 public:
  // `device` is who may access the blocks; `window` the reserved range their aliases come from.
  VmmBlockSource(const Driver& driver, CUmemLocation location, CUdevice device, Bytes granularity,
                 RangeAllocator* window);
  Result<Block> create(Bytes size) override;
  void destroy(const Block& block) override;

 private:
  [[nodiscard]] Status map_alias(const Block& block) const;

  const Driver& driver_;
  CUmemLocation location_;
  CUdevice device_;
  Bytes granularity_;
  RangeAllocator* window_;
};

class PinnedBlockSource final : public BlockSource {
 public:
  explicit PinnedBlockSource(const Driver& driver) : driver_(driver) {}
  Result<Block> create(Bytes size) override;
  void destroy(const Block& block) override;

 private:
  const Driver& driver_;
};

// Read and write access for `device` to a mapped range.
CUresult set_access(const Driver& driver, CUdeviceptr address, Bytes size, CUdevice device);

}  // namespace tencache::vmm
