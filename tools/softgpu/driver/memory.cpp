#include "tools/softgpu/driver/memory.hpp"

#include <sys/mman.h>

#include <utility>

#include "tools/softgpu/device/statistics.hpp"

namespace softgpu {

CUresult allocate_device(Context& context, Range::Kind kind, std::uint64_t bytes, std::uint64_t* address,
                         void* pool) {
  auto block = PhysicalBlock::on_device(context.device.hbm, context.device.ordinal, bytes);
  if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  Range range;
  range.kind = kind;
  range.bytes = bytes;
  range.device = context.device.ordinal;
  range.context = reinterpret_cast<CUcontext>(&context);
  range.block = std::move(block);
  range.pool = pool;
  count(statistics().allocations);
  return machine().space.allocate(std::move(range), address);
}

void release_memory(std::uint64_t address) {
  const auto range = machine().space.remove(address, [](const Range&) { return true; });
  const bool ours = range && (range->kind == Range::Kind::kPinned || range->kind == Range::Kind::kManaged);
  if (ours) munmap(reinterpret_cast<void*>(address), round_up(range->bytes, 4096));
}

}  // namespace softgpu
