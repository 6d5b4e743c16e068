#include "interpose/genuine_driver.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "interpose/genuine.hpp"

namespace tencache::interpose {

void* genuine_table[kEntryPointCount];

namespace {

struct Address {
  const void* address;
  std::size_t index;
};

std::array<Address, kEntryPointCount> by_address;
std::size_t known_addresses = 0;
std::mutex filling;
std::atomic<bool> filled{false};
std::atomic<bool> inert{false};
Exports exports{};  // set before the driver is adopted

bool has_door(std::size_t index) { return kEntryPoints[index].door != nullptr; }

// By address; among names of one address, those with a door first.
bool before(const Address& a, const Address& b) {
  if (a.address != b.address) return std::less<>{}(a.address, b.address);
  return has_door(a.index) && !has_door(b.index);
}

}  // namespace

bool adopt_driver(const DriverSource& source) noexcept {
  const std::lock_guard guard(filling);
  if (filled.load(std::memory_order_relaxed)) return false;
  for (std::size_t i = 0; i < kEntryPointCount; ++i) {
    genuine_table[i] = source.lookup(source.context, kEntryPoints[i].symbol);
    if (genuine_table[i] != nullptr) by_address[known_addresses++] = {genuine_table[i], i};
  }
  std::sort(by_address.begin(), by_address.begin() + static_cast<std::ptrdiff_t>(known_addresses), before);
  filled.store(true, std::memory_order_release);
  return true;
}

bool have_driver() noexcept { return filled.load(std::memory_order_acquire); }

void* genuine_address(std::size_t index) noexcept { return genuine_table[index]; }

std::optional<std::size_t> entry_point_at(const void* genuine_address) noexcept {
  const auto end = by_address.begin() + static_cast<std::ptrdiff_t>(known_addresses);
  const auto* found =
      std::lower_bound(by_address.begin(), end, genuine_address,
                       [](const Address& a, const void* b) { return std::less<>{}(a.address, b); });
  if (found == end || found->address != genuine_address) return std::nullopt;
  return found->index;
}

void set_inert() noexcept { inert.store(true, std::memory_order_release); }
bool is_inert() noexcept { return inert.load(std::memory_order_acquire); }

void set_exports(const Exports& of_preload) noexcept {
  const std::lock_guard guard(filling);
  if (!filled.load(std::memory_order_relaxed)) exports = of_preload;
}

std::uint64_t passed_through() noexcept {
  return exports.passed_through != nullptr ? exports.passed_through() : 0;
}

void* entry_point(std::size_t index) noexcept {
  const EntryPoint& entry = kEntryPoints[index];
  void* const genuine = genuine_address(index);
  if (genuine == nullptr || is_inert() || entry.handling == Handling::kPass) return genuine;
  if (exports.function != nullptr && entry.handling != Handling::kDoor) return exports.function(index);
  return entry.door != nullptr ? entry.door : genuine;
}

void* entry_point(const char* symbol) noexcept {
  const auto index = find_entry_point(symbol);
  return index ? entry_point(*index) : nullptr;
}

}  // namespace tencache::interpose
