// The link between host and device: one rate a direction, less while both are busy. Charged by the copy
// engines and by kernels that touch host memory. Thread rule: any thread. Failure rule: nothing fails.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

namespace softgpu {

enum class Direction : std::uint8_t { kToDevice, kToHost };

class Link {
 public:
  Link(std::uint64_t to_device_rate, std::uint64_t to_host_rate, std::uint64_t duplex_percent)
      : rates_{to_device_rate, to_host_rate}, duplex_percent_(duplex_percent) {}

  // Takes the link for `bytes` from `ready` on or when it is free; returns when they have crossed.
  std::uint64_t transfer(Direction direction, std::uint64_t ready, std::uint64_t bytes);
  // A copy is under way in that direction, even where its engine's thread lags behind the device clock.
  void enter(Direction direction);
  void leave(Direction direction);
  // Bytes worth charging at once: about 100 us.
  [[nodiscard]] std::uint64_t piece(Direction direction) const;

 private:
  const std::array<std::uint64_t, 2> rates_;
  const std::uint64_t duplex_percent_;
  std::mutex mutex_;
  std::array<std::uint64_t, 2> busy_until_{};
  std::array<unsigned, 2> under_way_{};
};

}  // namespace softgpu
