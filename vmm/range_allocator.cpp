#include "vmm/range_allocator.hpp"

#include <iterator>

namespace tencache::vmm {

CUdeviceptr RangeAllocator::take(Bytes size, Bytes alignment) {
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const CUdeviceptr start = round_up(Bytes(range->first), alignment).count();
    const CUdeviceptr end = range->first + range->second;
    if (start > end || end - start < size.count()) continue;
    const CUdeviceptr before = range->first;
    free_.erase(range);
    if (start > before) free_.emplace(before, start - before);
    if (start + size.count() < end) free_.emplace(start + size.count(), end - start - size.count());
    return start;
  }
  return 0;
}

void RangeAllocator::give_back(CUdeviceptr address, Bytes size) {
  std::uint64_t length = size.count();
  auto after = free_.lower_bound(address);
  if (after != free_.end() && address + length == after->first) {
    length += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    auto before = std::prev(after);
    if (before->first + before->second == address) {
      before->second += length;
      return;
    }
  }
  free_.emplace(address, length);
}

}  // namespace tencache::vmm
