// Allocations, pinned memory and look-ups of the address space; reservations and mappings are in
// address_space.cpp.
#include <algorithm>
#include <mutex>
#include <utility>

#include "tools/softgpu/device/address_space.hpp"

namespace softgpu {
namespace {

constexpr std::uint64_t kLargeAlignment = std::uint64_t{2} << 20;
constexpr std::uint64_t kHostPage = 4096;

}  // namespace

CUresult AddressSpace::allocate(Range range, std::uint64_t* address) {
  const std::unique_lock lock(mutex_);
  const std::uint64_t bytes = range.block->bytes();
  const auto gap = find_gap(bytes, bytes >= kLargeAlignment ? kLargeAlignment : kPageBytes);
  if (!gap) return CUDA_ERROR_OUT_OF_MEMORY;
  reservations_[*gap] = {bytes, false};
  range.base = *gap;
  range.buffer_id = new_buffer_id();
  const auto device = static_cast<std::size_t>(range.device);
  tables_[device]->set(range.base, *range.block, bytes, Mmu::kRead | Mmu::kWrite);
  *address = range.base;
  ranges_[range.base] = std::move(range);
  return CUDA_SUCCESS;
}

std::optional<Range> AddressSpace::remove(std::uint64_t address,
                                          const std::function<bool(const Range&)>& accept) {
  const std::unique_lock lock(mutex_);
  const auto found = ranges_.find(address);
  if (found == ranges_.end() || !accept(found->second)) return std::nullopt;
  Range range = std::move(found->second);
  ranges_.erase(found);
  unmap_pages(range);
  if (!range.is_host_kind()) reservations_.erase(range.base);
  return range;
}

bool AddressSpace::mark_freed(std::uint64_t address, const std::function<bool(const Range&)>& accept) {
  const std::unique_lock lock(mutex_);
  const auto found = ranges_.find(address);
  if (found == ranges_.end() || found->second.free_enqueued || !accept(found->second)) return false;
  found->second.free_enqueued = true;
  return true;
}

void AddressSpace::set_synchronous(std::uint64_t address, bool synchronous) {
  const std::unique_lock lock(mutex_);
  const auto found = range_at(address);
  if (found != ranges_.end()) ranges_.at(found->first).synchronous = synchronous;
}

CUresult AddressSpace::add_host(Range range) {
  const std::unique_lock lock(mutex_);
  const auto next = ranges_.lower_bound(range.base);
  const bool overlaps = (next != ranges_.end() && next->first < range.base + range.bytes) ||
                        range_at(range.base) != ranges_.end();
  if (overlaps) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  range.buffer_id = new_buffer_id();
  ranges_[range.base] = std::move(range);
  return CUDA_SUCCESS;
}

AddressSpace::Ranges::const_iterator AddressSpace::range_at(std::uint64_t address) const {
  auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin()) return ranges_.end();
  --next;
  return address - next->first < next->second.bytes ? next : ranges_.end();
}

std::optional<Range> AddressSpace::find(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto found = range_at(address);
  return found == ranges_.end() ? std::nullopt : std::optional<Range>(found->second);
}

void AddressSpace::for_each(const std::function<void(const Range&)>& visit) const {
  const std::shared_lock lock(mutex_);
  for (const auto& [base, range] : ranges_) visit(range);
}

// A copy may run over several neighbouring mappings, but not over the end of an allocation.
Place AddressSpace::window_place(std::uint64_t address, std::uint64_t bytes) const {
  auto it = range_at(address);
  if (it == ranges_.end()) return Place::kInvalid;
  const Place place = it->second.block->is_host() ? Place::kHostBlock : Place::kDevice;
  for (std::uint64_t at = address;; ++it) {
    if (it == ranges_.end() || it->first > at || !it->second.accessible) return Place::kInvalid;
    const std::uint64_t end = it->first + it->second.bytes;
    if (address + bytes <= end) return place;
    if (it->second.kind != Range::Kind::kMapping) return Place::kInvalid;
    at = end;
  }
}

Place AddressSpace::place(std::uint64_t address, std::uint64_t bytes) const {
  if (address + bytes < address) return Place::kInvalid;
  const std::shared_lock lock(mutex_);
  if (in_window(address)) return window_place(address, bytes);
  const auto found = range_at(address);
  if (found == ranges_.end()) return Place::kPageable;
  // Past the end of what is pinned: the driver refuses such a span, even if what follows is pinned as well.
  return address + bytes <= found->first + found->second.bytes ? Place::kPinned : Place::kInvalid;
}

std::uint8_t* AddressSpace::translate(std::uint64_t address, bool write, std::uint64_t* run) const {
  if (!in_window(address)) {
    *run = ~std::uint64_t{0};
    return reinterpret_cast<std::uint8_t*>(address);
  }
  const std::uint64_t offset = address & (kPageBytes - 1);
  *run = kPageBytes - offset;
  const std::uint64_t needed = write ? Mmu::kWrite : Mmu::kRead;
  for (const auto& table : tables_) {
    const std::uint64_t entry = table->entry(address);
    if ((entry & needed) != 0) return reinterpret_cast<std::uint8_t*>((entry & ~(kHostPage - 1)) + offset);
  }
  return nullptr;
}

std::uint64_t AddressSpace::outside_entry(const void* context, std::uint64_t address) {
  const auto& self = *static_cast<const AddressSpace*>(context);
  const std::shared_lock lock(self.mutex_);
  const auto found = self.range_at(address);
  if (found == self.ranges_.end() || !found->second.is_host_kind()) return 0;
  return (address & ~(kHostPage - 1)) | Mmu::kRead | Mmu::kWrite | Mmu::kOverLink;
}

}  // namespace softgpu
