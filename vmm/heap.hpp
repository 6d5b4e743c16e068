// Allocation and free as the program sees them: addresses, slabs for small ones, freed memory kept for reuse,
// and the strict account. No driver calls: blocks come at first touch. Called by DeviceMemory. Thread rule:
// under the memory's mutex. Failure rule: kOutOfMemory when the account, not HBM alone, is exhausted; frees
// answer what the driver would.
#pragma once

#include <array>
#include <map>

#include "vmm/memory_state.hpp"

namespace tencache::vmm {

struct AllocationAsk {
  Bytes size;
  bool async = false;
  StreamIndex stream = 0;  // async
  CUcontext context = nullptr;
  std::uint32_t pool = 0;
};

class Heap {
 public:
  // [base, base + size) is what addresses are handed out from.
  Heap(MemoryState& state, CUdeviceptr base, Bytes size, Bytes capacity);

  Result<CUdeviceptr> allocate(const AllocationAsk& ask);

  // The live allocation that starts at `address`; null: interior, freed or wild.
  [[nodiscard]] Allocation* find_base(CUdeviceptr address);
  struct Place {
    const Allocation* allocation = nullptr;  // null: nobody's
    CUdeviceptr base = 0;
  };
  [[nodiscard]] Place find(CUdeviceptr address) const;
  // Of the live allocation that the address lies in; false: there is none.
  bool set_synchronous(CUdeviceptr address, bool synchronous);
  [[nodiscard]] bool is_live_range(CUdeviceptr address, Bytes size) const;

  // Takes the live allocation at `address` away from the program. `pending`: work that must be done before
  // its bytes may change hands; null where that has been waited for.
  void free(CUdeviceptr address, const Use* pending);

  // The latest creation_order.
  [[nodiscard]] std::uint64_t created() const { return created_; }
  [[nodiscard]] Bytes charged() const { return charged_; }
  [[nodiscard]] Bytes capacity() const { return capacity_; }
  void set_capacity(Bytes capacity) { capacity_ = capacity; }

  // The last ask passed over freed memory whose stream was not known to be done with it.
  [[nodiscard]] bool waits_for_streams() const { return passed_over_; }

  // Units of the arena, from its start, that any address handed out can lie in.
  [[nodiscard]] std::uint64_t units_in_use() const;

  // Freed groups in the order they were freed, for those who need their blocks.
  [[nodiscard]] std::vector<GroupIndex> freed_groups() const;

 private:
  struct FreeSlot {
    GroupIndex group;
    std::uint32_t slot;
    bool pending;
    Use until;
  };
  using FreeList = std::vector<FreeSlot>;  // the last freed is reused first, in the order of calls

  [[nodiscard]] Bytes slot_size(Bytes asked) const;
  std::optional<FreeSlot> take_free(FreeList& list, const AllocationAsk& ask);
  Result<CUdeviceptr> reuse(const FreeSlot& slot, const AllocationAsk& ask);
  Result<GroupIndex> make_group(Bytes size, Bytes slot_size);
  void add_extents(GroupIndex index);
  bool bury_absent_groups();
  bool bury_if_absent(GroupIndex index);
  FreeList& free_list(const Group& group);
  void hand_out(Group& group, std::uint32_t slot, const AllocationAsk& ask);
  void announce(Group& group);
  bool charge(Bytes size);

  MemoryState& state_;
  RangeAllocator addresses_;
  CUdeviceptr first_;
  CUdeviceptr highest_;  // end of the highest range ever handed out
  Bytes capacity_;
  Bytes charged_;
  Bytes live_;
  bool passed_over_ = false;
  std::uint64_t created_ = 0;
  std::uint64_t last_buffer_id_ = 0;
  std::map<Bytes, FreeList> free_groups_;  // by size
  std::map<Bytes, FreeList> free_slots_;   // by slot size
  std::vector<GroupIndex> empty_slabs_;    // freed whole; their slots are in free_slots_
};

}  // namespace tencache::vmm
