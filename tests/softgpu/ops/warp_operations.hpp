// Instructions whose result on a lane depends on the whole warp: shuffles, votes, matches, reductions,
// barriers that reduce, and atomics, which lanes do in order. Called by warp_operations_test.cpp. Thread
// rule: immutable. Failure rule: none.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/softgpu/ops/operation.hpp"

namespace softgpu::ops {

using Tuple = std::array<std::uint64_t, 4>;
using Warp = std::array<Tuple, 32>;

// The operands of a whole warp, and which of its lanes run the instruction.
using WarpReference = std::function<std::uint64_t(const Warp& warp, std::uint32_t active, unsigned lane)>;

struct WarpOperation {
  Operation operation;  // without a reference
  WarpReference reference;
  // A lane's operands; null: any bits.
  std::function<Tuple(std::mt19937_64& random, unsigned thread)> operands;
  // The text names every lane's member mask as `$m`, which is the mask of the lanes that run it.
};

// Global memory for atomics: cell c of block b is 8 * (8 * b + c) bytes behind it.
inline constexpr std::uint64_t kCells = 0x7f00'0030'0000;

[[nodiscard]] std::vector<WarpOperation> shuffle_operations();
[[nodiscard]] std::vector<WarpOperation> vote_operations();
[[nodiscard]] std::vector<WarpOperation> atomic_operations();

void PrintTo(const WarpOperation& operation, std::ostream* out);

}  // namespace softgpu::ops
