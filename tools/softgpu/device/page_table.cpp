#include "tools/softgpu/device/page_table.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

namespace softgpu {

PageTable::PageTable(std::uint64_t base, std::uint64_t bytes, decltype(Mmu::outside) outside,
                     const void* context) {
  mmu_.base = base;
  mmu_.page_shift = kPageShift;
  mmu_.count = bytes >> kPageShift;
  mmu_.outside = outside;
  mmu_.context = context;
  table_bytes_ = mmu_.count * sizeof(std::atomic<std::uint64_t>);
  // Untouched pages of the table read as zero, which is 'unmapped', and cost nothing.
  void* memory =
      mmap(nullptr, table_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::fputs("softgpu: the host cannot reserve the page table\n", stderr);
    std::abort();
  }
  entries_ = static_cast<std::atomic<std::uint64_t>*>(memory);
  mmu_.entries = entries_;
}

PageTable::~PageTable() { munmap(static_cast<void*>(entries_), table_bytes_); }

void PageTable::set(std::uint64_t address, const PhysicalBlock& block, std::uint64_t bytes,
                    std::uint64_t access) {
  const std::uint64_t first = (address - mmu_.base) >> kPageShift;
  const std::uint64_t bits = access | (block.is_host() ? Mmu::kOverLink : 0);
  for (std::uint64_t i = 0; i < round_up(bytes, kPageBytes) >> kPageShift; ++i) {
    const std::uint64_t value = access == 0 ? 0 : reinterpret_cast<std::uint64_t>(block.page(i)) | bits;
    entries_[first + i].store(value, std::memory_order_release);
  }
}

void PageTable::clear(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t first = (address - mmu_.base) >> kPageShift;
  for (std::uint64_t i = 0; i < round_up(bytes, kPageBytes) >> kPageShift; ++i)
    entries_[first + i].store(0, std::memory_order_release);
}

}  // namespace softgpu
