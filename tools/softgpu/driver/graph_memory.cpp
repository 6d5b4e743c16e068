#include "tools/softgpu/driver/graph_memory.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "tools/softgpu/driver/memory.hpp"

namespace softgpu {
namespace {

struct Amount {
  std::uint64_t now = 0, most = 0;
  void add(std::uint64_t bytes) {
    now += bytes;
    most = std::max(most, now);
  }
};
struct DeviceAmounts {
  Amount used, reserved;
};

std::mutex mutex;
std::map<int, DeviceAmounts>& amounts() {
  static auto* const all = new std::map<int, DeviceAmounts>;
  return *all;
}
std::map<std::uint64_t, std::weak_ptr<GraphAllocation>>& by_address() {
  static auto* const all = new std::map<std::uint64_t, std::weak_ptr<GraphAllocation>>;
  return *all;
}

}  // namespace

GraphAllocation::GraphAllocation(int ordinal, std::uint64_t at, std::uint64_t size)
    : device(ordinal), address(at), bytes(size) {
  const std::lock_guard lock(mutex);
  amounts()[device].reserved.add(bytes);
}

GraphAllocation::~GraphAllocation() {
  free();
  {
    const std::lock_guard lock(mutex);
    amounts()[device].reserved.now -= bytes;
    by_address().erase(address);
  }
  release_memory(address, [](const Range& range) { return range.kind == Range::Kind::kGraph; });
}

bool GraphAllocation::allocate() {
  if (live_.exchange(true)) return false;
  const std::lock_guard lock(mutex);
  amounts()[device].used.add(bytes);
  return true;
}

bool GraphAllocation::free() {
  if (!live_.exchange(false)) return false;
  const std::lock_guard lock(mutex);
  amounts()[device].used.now -= bytes;
  return true;
}

CUresult make_graph_allocation(int device, CUcontext context, std::uint64_t bytes,
                               std::shared_ptr<GraphAllocation>* allocation) {
  std::uint64_t address = 0;
  SOFTGPU_TRY(allocate_device(device, context, Range::Kind::kGraph, bytes, &address));
  *allocation = std::make_shared<GraphAllocation>(device, address, bytes);
  const std::lock_guard lock(mutex);
  by_address()[address] = *allocation;
  return CUDA_SUCCESS;
}

std::shared_ptr<GraphAllocation> find_graph_allocation(std::uint64_t address) {
  const std::lock_guard lock(mutex);
  const auto found = by_address().find(address);
  return found == by_address().end() ? nullptr : found->second.lock();
}

CUresult get_graph_memory(int device, CUgraphMem_attribute attribute, cuuint64_t* value) {
  const std::lock_guard lock(mutex);
  const DeviceAmounts& all = amounts()[device];
  switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
      *value = all.used.now;
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      *value = all.used.most;
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
      *value = all.reserved.now;
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      *value = all.reserved.most;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult reset_graph_memory(int device, CUgraphMem_attribute attribute) {
  const std::lock_guard lock(mutex);
  DeviceAmounts& all = amounts()[device];
  if (attribute != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH && attribute != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
    return CUDA_ERROR_INVALID_VALUE;
  Amount& amount = attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH ? all.used : all.reserved;
  amount.most = amount.now;
  return CUDA_SUCCESS;
}

}  // namespace softgpu
