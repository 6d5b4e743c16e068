#include "tools/softgpu/device/link.hpp"

#include <algorithm>

#include "tools/softgpu/device/clock.hpp"

namespace softgpu {

std::uint64_t Link::transfer(Direction direction, std::uint64_t ready, std::uint64_t bytes) {
  const auto own = static_cast<std::size_t>(direction);
  const std::lock_guard lock(mutex_);
  const std::uint64_t start = std::max(ready, busy_until_[own]);
  std::uint64_t rate = rates_[own];
  if (busy_until_[1 - own] > start || under_way_[1 - own] > 0) rate = rate * duplex_percent_ / 100;
  busy_until_[own] = start + duration_ns(bytes, rate);
  return busy_until_[own];
}

void Link::enter(Direction direction) {
  const std::lock_guard lock(mutex_);
  ++under_way_[static_cast<std::size_t>(direction)];
}

void Link::leave(Direction direction) {
  const std::lock_guard lock(mutex_);
  --under_way_[static_cast<std::size_t>(direction)];
}

std::uint64_t Link::piece(Direction direction) const {
  const std::uint64_t rate = rates_[static_cast<std::size_t>(direction)];
  return rate == 0 ? std::uint64_t{1} << 24 : std::max<std::uint64_t>(rate / 10'000, 65536);
}

}  // namespace softgpu
