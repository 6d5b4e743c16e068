// 128 bits that stand for the bytes of a block (DESIGN 7): equal fingerprints, equal bytes, but for a chance
// of about 2^-127. Seeded for each process and dependent on each word's position. The sum over all words may
// be taken in any order, so that a GPU's threads can share it. Called by who takes and compares
// fingerprints. Thread rule: values. Failure rule: none.
#pragma once

#include <cstdint>

namespace tencache::vmm {

struct Fingerprint {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  bool operator==(const Fingerprint&) const = default;

  struct Seeds {
    std::uint64_t place = 1;  // odd
    std::uint64_t second = 0;
  };
  static constexpr std::uint64_t kMix1 = 0xff51afd7ed558ccdu;  // the multipliers of MurmurHash3's finaliser,
  static constexpr std::uint64_t kMix2 = 0xc4ceb9fe1a85ec53u;
  static constexpr std::uint64_t kMix3 = 0x9e3779b97f4a7c15u;  // and 2^64 over the golden ratio

  // What the word at `index` adds. The reading kernel computes the same.
  constexpr void add(const Seeds& seeds, std::uint64_t index, std::uint64_t word) {
    std::uint64_t mixed = index * seeds.place + word;
    mixed = (mixed ^ (mixed >> 32)) * kMix1;
    mixed ^= mixed >> 29;
    const std::uint64_t one = mixed * kMix2;
    first += one ^ (one >> 32);
    const std::uint64_t other = (mixed ^ seeds.second) * kMix3;
    second += other ^ (other >> 31);
  }
};

}  // namespace tencache::vmm
