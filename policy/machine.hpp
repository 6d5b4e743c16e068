// What a step runs on, as the simulator, the planner and the bound see it. Thread rule: plain values.
#pragma once

#include <cstdint>

#include "src/base/units.hpp"

namespace tencache::policy {

// Bytes a second over the link into HBM and out of it, each alone and both at once.
struct LinkRates {
  double in_alone = 0;
  double out_alone = 0;
  double in_duplex = 0;
  double out_duplex = 0;
  // Both directions at once are no faster than one after the other.
  [[nodiscard]] constexpr bool better_in_turns() const {
    return in_duplex / in_alone + out_duplex / out_alone <= 1;
  }
  static constexpr LinkRates both_ways(double rate) { return {rate, rate, rate, rate}; }
};

struct Machine {
  Bytes hbm;
  LinkRates link;
  Bytes block = 2_MiB;          // what is moved, mapped and dropped at a time
  Nanoseconds map_per_block{};  // on the one mapper thread: a fetched block, and one dropped for a birth
  std::uint32_t map_queue = 6;  // fetches run at most so many blocks in front of the mapper
  Nanoseconds run_ahead{};      // how far kernels are enqueued, and so must be mapped, before they start
  double guard_seconds = 0;  // a plan's fetches are to be early by so much more than it takes them by itself
  bool writes_known = true;  // else an access makes its bytes suspect until a fingerprint clears them
  double fingerprint_rate = 0;  // bytes a second of GPU time
  Bytes host = kUnlimited;      // the tier below HBM; what it cannot hold lies on disk
  double disk_read = 0;         // bytes a second
  double disk_write = 0;
  static constexpr Bytes kUnlimited{~std::uint64_t{0} >> 2};
};

}  // namespace tencache::policy
