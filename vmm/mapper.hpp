// Changes what is mapped at the program's addresses: many extents at once, one set-access over each run of
// neighbours. Called by the engine alone, on its thread. Thread rule: one thread; nothing that may touch the
// extents is enqueued or running. Failure rule: an extent whose change the driver refused is left unmapped
// and reported.
#pragma once

#include <span>
#include <vector>

#include "src/base/statistics.hpp"
#include "src/driver/driver.hpp"
#include "vmm/block_source.hpp"

namespace tencache::vmm {

struct MappingChange {
  CUdeviceptr address = 0;
  Bytes size;
  bool mapped = false;           // something is mapped there now
  const Block* block = nullptr;  // what is to be mapped; null: nothing
  CUresult result = CUDA_SUCCESS;
};

class Mapper {
 public:
  Mapper(const Driver& driver, CUdevice device, Statistics& statistics)
      : driver_(driver), device_(device), statistics_(statistics) {}
  void apply(std::span<MappingChange> changes);

 private:
  void remap(MappingChange& change);
  void give_access(std::span<MappingChange*> run);

  const Driver& driver_;
  CUdevice device_;
  Statistics& statistics_;
};

}  // namespace tencache::vmm
