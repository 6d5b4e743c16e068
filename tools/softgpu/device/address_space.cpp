#include "tools/softgpu/device/address_space.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace softgpu {
namespace {

constexpr std::uint64_t kWindowAlignment = std::uint64_t{2} << 20;

std::uint64_t mapped_bytes(const Range& range) { return round_up(range.bytes, kPageBytes); }

std::uint64_t access_bits(unsigned flags) {
  if (flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) return Mmu::kRead | Mmu::kWrite;
  return flags == CU_MEM_ACCESS_FLAGS_PROT_READ ? Mmu::kRead : 0;
}

bool is_host_location(CUmemLocationType type) {
  return type == CU_MEM_LOCATION_TYPE_HOST || type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
         type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

}  // namespace

// A sanitizer leaves less room than is asked for: then half of it must do, and so on.
AddressSpace::AddressSpace(std::uint64_t bytes, int devices) : bytes_(round_up(bytes, kWindowAlignment)) {
  for (; bytes_ >= kWindowAlignment; bytes_ = round_up(bytes_ / 2, kWindowAlignment)) {
    window_bytes_ = bytes_ + kWindowAlignment;
    window_ = mmap(nullptr, window_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (window_ != MAP_FAILED || bytes_ == kWindowAlignment) break;
  }
  if (window_ == MAP_FAILED || window_ == nullptr) {
    std::fputs("softgpu: the host cannot reserve SOFTGPU_VA\n", stderr);
    std::abort();
  }
  base_ = round_up(reinterpret_cast<std::uint64_t>(window_), kWindowAlignment);
  for (int i = 0; i < devices; ++i)
    tables_.push_back(std::make_unique<PageTable>(base_, bytes_, &AddressSpace::outside_entry, this));
}

AddressSpace::~AddressSpace() { munmap(window_, window_bytes_); }

std::optional<std::uint64_t> AddressSpace::find_gap(std::uint64_t bytes, std::uint64_t alignment) const {
  std::uint64_t candidate = round_up(base_, alignment);
  for (const auto& [start, reservation] : reservations_) {
    if (candidate + bytes <= start) break;
    candidate = std::max(candidate, round_up(start + reservation.bytes, alignment));
  }
  if (bytes > bytes_ || candidate - base_ > bytes_ - bytes) return std::nullopt;
  return candidate;
}

bool AddressSpace::is_free(std::uint64_t address, std::uint64_t bytes) const {
  if (!in_window(address) || bytes > bytes_ || address - base_ > bytes_ - bytes) return false;
  auto next = reservations_.lower_bound(address);
  if (next != reservations_.end() && next->first < address + bytes) return false;
  return next == reservations_.begin() || std::prev(next)->first + std::prev(next)->second.bytes <= address;
}

CUresult AddressSpace::reserve(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wanted,
                               std::uint64_t* address) {
  const std::unique_lock lock(mutex_);
  alignment = std::max(alignment, kPageBytes);
  std::optional<std::uint64_t> found;
  if (wanted % alignment == 0 && is_free(wanted, bytes)) found = wanted;
  if (!found) found = find_gap(bytes, alignment);
  if (!found) return CUDA_ERROR_OUT_OF_MEMORY;
  reservations_[*found] = {bytes, true};
  *address = *found;
  return CUDA_SUCCESS;
}

CUresult AddressSpace::free_reservation(std::uint64_t address, std::uint64_t bytes) {
  const std::unique_lock lock(mutex_);
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || !found->second.is_program || found->second.bytes != bytes)
    return CUDA_ERROR_INVALID_VALUE;
  const auto inside = ranges_.lower_bound(address);
  if (inside != ranges_.end() && inside->first < address + bytes) return CUDA_ERROR_INVALID_VALUE;
  reservations_.erase(found);
  return CUDA_SUCCESS;
}

CUresult AddressSpace::map(std::uint64_t address, std::shared_ptr<PhysicalBlock> block,
                           CUmemGenericAllocationHandle handle) {
  const std::unique_lock lock(mutex_);
  const std::uint64_t bytes = block->bytes();
  auto reservation = reservations_.upper_bound(address);
  if (reservation == reservations_.begin()) return CUDA_ERROR_INVALID_VALUE;
  --reservation;
  const bool inside =
      reservation->second.is_program && address + bytes <= reservation->first + reservation->second.bytes;
  if (!inside) return CUDA_ERROR_INVALID_VALUE;
  const auto next = ranges_.lower_bound(address);
  if (next != ranges_.end() && next->first < address + bytes) return CUDA_ERROR_INVALID_VALUE;
  if (range_at(address) != ranges_.end()) return CUDA_ERROR_INVALID_VALUE;
  Range range;
  range.kind = Range::Kind::kMapping;
  range.base = address;
  range.bytes = bytes;
  range.device = block->is_host() ? 0 : block->location_id();
  range.buffer_id = new_buffer_id();
  range.block = std::move(block);
  range.handle = handle;
  range.reservation = reservation->first;
  range.accessible = false;
  ranges_[address] = std::move(range);
  return CUDA_SUCCESS;
}

bool AddressSpace::covers_whole_mappings(std::uint64_t address, std::uint64_t bytes) const {
  std::uint64_t at = address;
  for (auto it = ranges_.find(address); at < address + bytes; ++it) {
    if (it == ranges_.end() || it->first != at || it->second.kind != Range::Kind::kMapping) return false;
    at += it->second.bytes;
  }
  return at == address + bytes;
}

CUresult AddressSpace::unmap(std::uint64_t address, std::uint64_t bytes, std::vector<Range>* removed) {
  const std::unique_lock lock(mutex_);
  if (bytes == 0 || !covers_whole_mappings(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
  for (auto it = ranges_.find(address); it != ranges_.end() && it->first < address + bytes;) {
    unmap_pages(it->second);
    removed->push_back(std::move(it->second));
    it = ranges_.erase(it);
  }
  return CUDA_SUCCESS;
}

void AddressSpace::unmap_pages(const Range& range) {
  if (range.is_host_kind()) return;
  for (const auto& table : tables_) table->clear(range.base, mapped_bytes(range));
  if (range.block->is_host()) apply_host_access(range, CU_MEM_ACCESS_FLAGS_PROT_NONE);
}

CUresult AddressSpace::set_access(std::uint64_t address, std::uint64_t bytes,
                                  std::span<const CUmemAccessDesc> descriptors) {
  const std::unique_lock lock(mutex_);
  if (bytes == 0 || !covers_whole_mappings(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
  for (auto it = ranges_.find(address); it != ranges_.end() && it->first < address + bytes; ++it) {
    for (const CUmemAccessDesc& descriptor : descriptors) {
      const bool host = is_host_location(descriptor.location.type);
      if (host ? !it->second.block->is_host() : descriptor.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
      if (!host && static_cast<std::size_t>(descriptor.location.id) >= tables_.size())
        return CUDA_ERROR_INVALID_DEVICE;
    }
  }
  for (auto it = ranges_.find(address); it != ranges_.end() && it->first < address + bytes; ++it)
    for (const CUmemAccessDesc& descriptor : descriptors) apply_access(it->second, descriptor);
  return CUDA_SUCCESS;
}

void AddressSpace::apply_access(Range& range, const CUmemAccessDesc& descriptor) {
  if (is_host_location(descriptor.location.type)) {
    apply_host_access(range, descriptor.flags);
    return;
  }
  const std::uint64_t bits = access_bits(descriptor.flags);
  tables_[static_cast<std::size_t>(descriptor.location.id)]->set(range.base, *range.block, range.bytes, bits);
  range.accessible = std::any_of(tables_.begin(), tables_.end(),
                                 [&range](const auto& table) { return table->entry(range.base) != 0; });
}

// The window is the host's address range too: a host block's pages are put there, or taken away again.
void AddressSpace::apply_host_access(const Range& range, unsigned flags) const {
  void* place = reinterpret_cast<void*>(range.base);
  const int protection = flags == CU_MEM_ACCESS_FLAGS_PROT_READ ? PROT_READ : PROT_READ | PROT_WRITE;
  const void* placed =
      flags == CU_MEM_ACCESS_FLAGS_PROT_NONE
          ? mmap(place, range.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                 0)
          : mmap(place, range.bytes, protection, MAP_SHARED | MAP_FIXED, range.block->host_file(), 0);
  if (placed != MAP_FAILED) return;
  std::fputs("softgpu: the host cannot map a host block's pages\n", stderr);
  std::abort();
}

CUresult AddressSpace::access(std::uint64_t address, const CUmemLocation& location,
                              unsigned long long* flags) const {
  const std::shared_lock lock(mutex_);
  const auto range = range_at(address);
  if (range == ranges_.end() || range->second.block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE || static_cast<std::size_t>(location.id) >= tables_.size())
    return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t entry = tables_[static_cast<std::size_t>(location.id)]->entry(address);
  *flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  if ((entry & Mmu::kRead) != 0) *flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
  if ((entry & Mmu::kWrite) != 0) *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return CUDA_SUCCESS;
}

}  // namespace softgpu
