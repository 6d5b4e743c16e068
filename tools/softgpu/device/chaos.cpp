#include "tools/softgpu/device/chaos.hpp"

#include <cstdlib>

namespace softgpu {
namespace {

std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

Chaos Chaos::from_setting(const std::string& seed, std::uint64_t longest_ns) {
  if (seed.empty()) return {};
  return {std::strtoull(seed.c_str(), nullptr, 0), longest_ns};
}

// Half of all operations go at once, so that the others overtake and are overtaken; a few are held for long.
std::uint64_t Chaos::delay(std::uint64_t stream, std::uint64_t index, std::uint64_t what) const {
  const std::uint64_t roll = mix(mix(mix(seed_ * 2 + what) ^ stream) ^ index);
  const std::uint64_t dice = roll % 16;
  if (dice < 8) return 0;
  const std::uint64_t longest = dice < 15 ? longest_ns_ / 16 : longest_ns_;
  return longest == 0 ? 0 : (roll >> 8) % longest;
}

}  // namespace softgpu
