// Hands out address ranges of one reservation: first fit, neighbours merged on return. Called by the arena
// and the block pools. Thread rule: the caller serialises. Failure rule: `take` answers 0 when nothing fits.
#pragma once

#include <cuda.h>

#include <map>

#include "src/base/units.hpp"

namespace tencache::vmm {

class RangeAllocator {
 public:
  RangeAllocator() = default;
  RangeAllocator(CUdeviceptr base, Bytes size) { give_back(base, size); }
  [[nodiscard]] CUdeviceptr take(Bytes size, Bytes alignment);
  void give_back(CUdeviceptr address, Bytes size);

 private:
  std::map<CUdeviceptr, std::uint64_t> free_;  // start -> length, never touching each other
};

}  // namespace tencache::vmm
