// Steps made up for the bench: random small ones, and long ones of one shape. Thread rule: pure. Failure
// rule: none; the same seed gives the same step.
#pragma once

#include <cstdint>

#include "policy/machine.hpp"
#include "policy/trace.hpp"

namespace tencache::bench {

struct RandomCell {
  policy::Trace trace;
  policy::Machine machine;
};

// 30 to 200 kernels, random sizes, lives, order, HBM and link.
[[nodiscard]] RandomCell random_cell(std::uint64_t seed);
// Forward and backward over as many layers as it takes; ten chunks of 2 MiB an access, HBM for 40 % of them.
[[nodiscard]] RandomCell long_step(std::uint32_t accesses);

}  // namespace tencache::bench
