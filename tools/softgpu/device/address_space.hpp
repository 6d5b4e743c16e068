// Device addresses: a window that the host cannot dereference, what is reserved and mapped in it, pinned host
// memory, and the page tables made from that. The driver's own view of every address. One per process, called
// by the driver API and, for translation, by the engines. Thread rule: any thread; one readers-writer lock
// inside, none is taken to translate an address of the window. Failure rule: CUresult, as the driver API
// would answer.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <vector>

#include "tools/softgpu/device/page_table.hpp"
#include "tools/softgpu/device/physical_memory.hpp"

namespace softgpu {

// What the driver knows about one range of addresses.
struct Range {
  enum class Kind : std::uint8_t {
    kAllocation,  // cuMemAlloc, cuMemAllocPitch
    kPool,        // cuMemAllocAsync
    kGraph,       // allocated by a node of a graph
    kMapping,     // cuMemMap
    kGlobal,      // a module's variable
    kInternal,    // softgpu's own; no program's address
    kPinned,      // cuMemHostAlloc, at its host address
    kRegistered,  // cuMemHostRegister, at its host address
    kManaged,     // cuMemAllocManaged, at its host address
  };
  Kind kind = Kind::kAllocation;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;  // as asked for
  int device = 0;
  CUcontext context = nullptr;
  std::uint64_t buffer_id = 0;
  std::shared_ptr<PhysicalBlock> block;  // null for host kinds
  CUmemGenericAllocationHandle handle = 0;
  std::uint64_t reservation = 0;  // base of the reservation a mapping lies in
  bool accessible = true;         // a mapping is not, before cuMemSetAccess
  unsigned flags = 0;             // of cuMemHostAlloc or cuMemHostRegister
  void* pool = nullptr;
  bool synchronous = false;    // copies and memsets of it that name no stream wait
  bool free_enqueued = false;  // a stream-ordered free of it is on its way

  [[nodiscard]] bool is_host_kind() const { return kind >= Kind::kPinned; }
};

// Where the bytes at an address lie, as a copy sees it.
enum class Place : std::uint8_t { kInvalid, kDevice, kHostBlock, kPinned, kPageable };

class AddressSpace {
 public:
  AddressSpace(std::uint64_t bytes, int devices);
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  [[nodiscard]] bool in_window(std::uint64_t address) const { return address - base_ < bytes_; }
  [[nodiscard]] const Mmu& mmu(int device) const { return tables_[static_cast<std::size_t>(device)]->mmu(); }

  // Reservations (VMM API).
  CUresult reserve(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wanted,
                   std::uint64_t* address);
  CUresult free_reservation(std::uint64_t address, std::uint64_t bytes);
  CUresult map(std::uint64_t address, std::shared_ptr<PhysicalBlock> block,
               CUmemGenericAllocationHandle handle);
  // Their blocks go where `removed` goes.
  CUresult unmap(std::uint64_t address, std::uint64_t bytes, std::vector<Range>* removed);
  // Each descriptor applies to the whole mappings that make up the range.
  CUresult set_access(std::uint64_t address, std::uint64_t bytes,
                      std::span<const CUmemAccessDesc> descriptors);
  CUresult access(std::uint64_t address, const CUmemLocation& location, unsigned long long* flags) const;

  // Allocations: address, block and mapping in one; `range` says what it is, its base is filled in.
  CUresult allocate(Range range, std::uint64_t* address);
  // Takes a range that begins at `address` and satisfies `accept`; its memory is unmapped, its block
  // returned.
  std::optional<Range> remove(std::uint64_t address, const std::function<bool(const Range&)>& accept);
  // Notes that a stream-ordered free is enqueued; false where `accept` refuses, or one is already.
  bool mark_freed(std::uint64_t address, const std::function<bool(const Range&)>& accept);
  // Host memory at its own address.
  CUresult add_host(Range range);
  // Of the range that the address lies in, if there is one.
  void set_synchronous(std::uint64_t address, bool synchronous);

  [[nodiscard]] std::optional<Range> find(std::uint64_t address) const;
  void for_each(const std::function<void(const Range&)>& visit) const;
  // Where [address, address + bytes) lies, or kInvalid where a copy must not go.
  [[nodiscard]] Place place(std::uint64_t address, std::uint64_t bytes) const;
  // Host address of a byte, null where it is unmapped; `run` is how many bytes follow it there.
  std::uint8_t* translate(std::uint64_t address, bool write, std::uint64_t* run) const;
  [[nodiscard]] std::uint64_t new_buffer_id() { return next_buffer_id_.fetch_add(1); }

 private:
  struct Reservation {
    std::uint64_t bytes = 0;
    bool is_program = false;  // made by cuMemAddressReserve
  };
  using Ranges = std::map<std::uint64_t, Range>;

  std::optional<std::uint64_t> find_gap(std::uint64_t bytes, std::uint64_t alignment) const;
  bool is_free(std::uint64_t address, std::uint64_t bytes) const;
  [[nodiscard]] Ranges::const_iterator range_at(std::uint64_t address) const;
  [[nodiscard]] bool covers_whole_mappings(std::uint64_t address, std::uint64_t bytes) const;
  [[nodiscard]] Place window_place(std::uint64_t address, std::uint64_t bytes) const;
  void apply_access(Range& range, const CUmemAccessDesc& descriptor);
  void apply_host_access(const Range& range, unsigned flags) const;
  void unmap_pages(const Range& range);
  static std::uint64_t outside_entry(const void* context, std::uint64_t address);

  std::uint64_t base_ = 0;
  std::uint64_t bytes_ = 0;
  void* window_ = nullptr;
  std::uint64_t window_bytes_ = 0;
  std::vector<std::unique_ptr<PageTable>> tables_;
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, Reservation> reservations_;
  Ranges ranges_;
  std::atomic<std::uint64_t> next_buffer_id_{1};
};

}  // namespace softgpu
