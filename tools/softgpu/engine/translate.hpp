// From an address as the kernel sees it to host memory, with permission and page end. Used by the memory and
// atomic handlers. Thread rule: the block's thread; the MMU's table may change at any time, so nothing is
// remembered. Failure rule: a null host pointer is an illegal address.
#pragma once

#include "tools/softgpu/engine/state.hpp"

namespace softgpu::engine {

struct Place {
  std::uint8_t* host = nullptr;
  std::uint64_t left = 0;  // bytes up to the end of the page or window
  bool device = false;     // counts as device traffic
  bool over_link = false;
};

inline Place place_in_page(std::uint64_t entry, std::uint64_t address, std::uint64_t page, bool write) {
  if ((entry & (write ? Mmu::kWrite : Mmu::kRead)) == 0) return {};
  const std::uint64_t within = address & (page - 1);
  // The table holds host addresses as numbers.
  auto* host = reinterpret_cast<std::uint8_t*>((entry & ~std::uint64_t{0xfff}) + within);  // NOLINT
  return {host, page - within, true, (entry & Mmu::kOverLink) != 0};
}
inline Place place_global(const Mmu& mmu, std::uint64_t address, bool write) {
  const std::uint64_t page = (address - mmu.base) >> mmu.page_shift;
  if (address >= mmu.base && page < mmu.count) {
    return place_in_page(mmu.entries[page].load(std::memory_order_acquire), address,
                         std::uint64_t{1} << mmu.page_shift, write);
  }
  if (mmu.outside == nullptr) return {};
  return place_in_page(mmu.outside(mmu.context, address), address, 4096, write);
}
inline Place place_in(std::uint8_t* memory, std::uint64_t bytes, std::uint64_t offset) {
  if (offset >= bytes) return {};
  return {memory + offset, bytes - offset, false, false};
}
Place place_special(const Pack& pack, Window window, std::uint64_t address, int lane, bool write);

inline Window window_of(Window window, std::uint64_t address) {
  if (window != Window::kGeneric) return window;
  switch (address & kWindowMask) {
    case kSharedWindow:
      return Window::kShared;
    case kLocalWindow:
      return Window::kLocal;
    case kParamWindow:
      return Window::kParam;
    default:
      return Window::kGlobal;
  }
}
inline Place place_of(const Pack& pack, Window window, std::uint64_t address, int lane, bool write) {
  const Window actual = window_of(window, address);
  if (actual == Window::kGlobal) return place_global(*pack.block->kernel->launch->mmu, address, write);
  return place_special(pack, actual, address & ~kWindowMask, lane, write);
}

// The address register's value in one lane; 32-bit registers are zero-extended.
inline std::uint64_t address_of(const Register& r, int lane) {
  if ((r.state & Register::kVector) != 0) {
    return r.width == 8 ? static_cast<const std::uint64_t*>(r.vector)[lane]
                        : static_cast<const std::uint32_t*>(r.vector)[lane];
  }
  const int half = lane / kHalfLanes;
  const auto step = static_cast<std::uint64_t>(r.stride) * static_cast<std::uint64_t>(lane % kHalfLanes);
  if (r.width == 8) return r.base[half] + step;
  std::uint32_t first;
  std::memcpy(&first, reinterpret_cast<const char*>(r.base) + half * 4, 4);
  return static_cast<std::uint32_t>(first + step);
}

}  // namespace softgpu::engine
