// From an address of the arena to the group it lies in, in one load: the arena in units of the small block,
// one word each, in memory that costs nothing until used. Called on every launch. Thread rule: reads from any
// thread without a lock, writes under the memory's mutex. Failure rule: an address nobody owns is kNoGroup.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>

#include "src/base/units.hpp"

namespace tencache::vmm {

using GroupIndex = std::uint32_t;
inline constexpr GroupIndex kNoGroup = ~0u;

class UnitTable {
 public:
  UnitTable(CUdeviceptr base, Bytes size, Bytes unit);
  ~UnitTable();
  UnitTable(const UnitTable&) = delete;
  UnitTable& operator=(const UnitTable&) = delete;

  [[nodiscard]] bool valid() const { return groups_ != nullptr; }
  [[nodiscard]] CUdeviceptr base() const { return base_; }
  [[nodiscard]] bool contains(CUdeviceptr address) const { return address - base_ < size_; }
  [[nodiscard]] GroupIndex group_at(CUdeviceptr address) const {
    if (!contains(address)) return kNoGroup;
    return groups_[(address - base_) >> shift_].load(std::memory_order_relaxed) - 1;  // 0 is nobody
  }
  void set(CUdeviceptr address, Bytes size, GroupIndex group);  // kNoGroup: nobody's again

 private:
  CUdeviceptr base_;
  std::uint64_t size_;
  unsigned shift_;
  std::atomic<GroupIndex>* groups_ = nullptr;
};

}  // namespace tencache::vmm
