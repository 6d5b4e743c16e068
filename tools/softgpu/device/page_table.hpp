// The flat page table of one device, which kernels ask at each access while it changes. Owned by
// AddressSpace. Thread rule: entries are atomics; who changes them holds the address space's lock. Failure
// rule: 0 is unmapped.
#pragma once

#include <atomic>
#include <cstdint>

#include "tools/softgpu/device/physical_memory.hpp"
#include "tools/softgpu/engine/engine.hpp"

namespace softgpu {

class PageTable {
 public:
  // `outside` answers for addresses outside the window: pinned host memory.
  PageTable(std::uint64_t base, std::uint64_t bytes, decltype(Mmu::outside) outside, const void* context);
  ~PageTable();
  PageTable(const PageTable&) = delete;
  PageTable& operator=(const PageTable&) = delete;

  [[nodiscard]] const Mmu& mmu() const { return mmu_; }
  [[nodiscard]] std::uint64_t entry(std::uint64_t address) const {
    return entries_[(address - mmu_.base) >> kPageShift].load(std::memory_order_acquire);
  }
  void set(std::uint64_t address, const PhysicalBlock& block, std::uint64_t bytes, std::uint64_t access);
  void clear(std::uint64_t address, std::uint64_t bytes);

 private:
  std::atomic<std::uint64_t>* entries_ = nullptr;
  std::uint64_t table_bytes_ = 0;
  Mmu mmu_;
};

}  // namespace softgpu
