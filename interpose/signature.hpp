// The signature of an access: what is done, without addresses. Made by the launch doors and by who reads
// graphs. Thread rule: pure. Failure rule: none.
#pragma once

#include <cstdint>

namespace tencache::doors {

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 32);
}

}  // namespace tencache::doors
