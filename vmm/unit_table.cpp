#include "vmm/unit_table.hpp"

#include <sys/mman.h>

#include <bit>

namespace tencache::vmm {

UnitTable::UnitTable(CUdeviceptr base, Bytes size, Bytes unit)
    : base_(base), size_(size.count()), shift_(static_cast<unsigned>(std::countr_zero(unit.count()))) {
  void* memory = mmap(nullptr, (size_ >> shift_) * sizeof(GroupIndex), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) groups_ = static_cast<std::atomic<GroupIndex>*>(memory);
}

UnitTable::~UnitTable() {
  if (groups_ != nullptr) munmap(groups_, (size_ >> shift_) * sizeof(GroupIndex));
}

void UnitTable::set(CUdeviceptr address, Bytes size, GroupIndex group) {
  const std::uint64_t first = (address - base_) >> shift_;
  const std::uint64_t count = size.count() >> shift_;
  for (std::uint64_t unit = first; unit < first + count; ++unit) {
    groups_[unit].store(group + 1, std::memory_order_relaxed);
  }
}

}  // namespace tencache::vmm
