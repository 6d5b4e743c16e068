// A small random number generator (splitmix64), so that a seed means the same everywhere. Called by all
// examples. Thread rule: a plain value. Failure rule: cannot fail.
#pragma once

#include <cstdint>
#include <vector>

namespace examples {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  // In [-bound, bound), with 24 random bits.
  float uniform(float bound) { return (static_cast<float>(next() >> 40) * 0x1p-23F - 1.0F) * bound; }

  std::vector<float> uniform(std::size_t count, float bound) {
    std::vector<float> values(count);
    for (float& value : values) value = uniform(bound);
    return values;
  }

 private:
  std::uint64_t state_;
};

}  // namespace examples
