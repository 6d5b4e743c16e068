// Memory that a graph's own nodes allocate and free. It has its address and its bytes from the making of the
// node until no graph names it any more; whether it is live follows the launches. Called by the graph entry
// points and by launch. Thread rule: any thread. Failure rule: CUresult.
#pragma once

#include <cuda.h>

#include <atomic>
#include <memory>

#include "tools/softgpu/driver/context.hpp"

namespace softgpu {

struct GraphAllocation {
  GraphAllocation(int ordinal, std::uint64_t at, std::uint64_t size);
  ~GraphAllocation();
  GraphAllocation(const GraphAllocation&) = delete;
  GraphAllocation& operator=(const GraphAllocation&) = delete;

  // As the program's calls go, not the device: false where it is live, or not live, already.
  bool allocate();
  bool free();

  const int device;
  const std::uint64_t address;
  const std::uint64_t bytes;

 private:
  std::atomic<bool> live_{false};
};

CUresult make_graph_allocation(int device, CUcontext context, std::uint64_t bytes,
                               std::shared_ptr<GraphAllocation>* allocation);
// Null for an address that is none's first.
std::shared_ptr<GraphAllocation> find_graph_allocation(std::uint64_t address);

CUresult get_graph_memory(int device, CUgraphMem_attribute attribute, cuuint64_t* value);
CUresult reset_graph_memory(int device, CUgraphMem_attribute attribute);

}  // namespace softgpu
