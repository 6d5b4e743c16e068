#include "tools/softgpu/driver/memory.hpp"

#include <sys/mman.h>

#include <utility>

#include "tools/softgpu/device/statistics.hpp"
#include "tools/softgpu/driver/pool.hpp"

namespace softgpu {

CUresult allocate_device(int device, CUcontext context, Range::Kind kind, std::uint64_t bytes,
                         std::uint64_t* address, void* pool) {
  auto block = PhysicalBlock::on_device(machine().device(device).hbm, device, bytes);
  if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  Range range;
  range.kind = kind;
  range.bytes = bytes;
  range.device = device;
  range.context = context;
  range.block = std::move(block);
  range.pool = pool;
  count(statistics().allocations);
  return machine().space.allocate(std::move(range), address);
}

std::optional<Range> release_memory(std::uint64_t address, const std::function<bool(const Range&)>& accept) {
  auto range = machine().space.remove(address, accept);
  if (!range) return std::nullopt;
  const bool ours = range->kind == Range::Kind::kPinned || range->kind == Range::Kind::kManaged;
  if (ours) munmap(reinterpret_cast<void*>(address), round_up(range->bytes, 4096));
  if (range->kind == Range::Kind::kPool)
    if (const PoolPtr pool = Pools::instance().find(static_cast<CUmemoryPool>(range->pool)))
      pool->remove(range->bytes);
  return range;
}

void release_memory(std::uint64_t address) {
  release_memory(address, [](const Range&) { return true; });
}

}  // namespace softgpu
