// Writes the kernels that run one instruction: its operands come from memory, from parameters, from the
// thread's number, or are literals; all lanes run it, or some under a guard or behind a branch. Called by
// operations_test.cpp. Thread rule: pure. Failure rule: none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/softgpu/ops/operation.hpp"

namespace softgpu::ops {

enum class Feed : std::uint8_t {
  kMemory,     // word `8 * (thread * sources + source)` of the input
  kParameter,  // the same in all lanes
  kAffine,     // parameter + thread of the block * stride, modulo its width
  kLiteral,
};

enum class Lanes : std::uint8_t { kAll, kGuarded, kBranched };

struct Variant {
  std::string name;
  std::vector<Feed> feeds;
  std::vector<std::uint64_t> literals;  // by source
  Lanes lanes = Lanes::kAll;
};

// What lanes that do not run the instruction keep: every fourth from the second on.
[[nodiscard]] bool runs(Lanes lanes, std::uint32_t thread);
[[nodiscard]] std::uint64_t kept_value(const std::string& type);

[[nodiscard]] bool can_be_affine(const std::string& type);
[[nodiscard]] bool can_be_literal(const std::string& type);
[[nodiscard]] bool can_be_guarded(const Operation& operation);

// An entry named variant.name with the parameters input, output, threads, then value and stride of each of
// four sources.
[[nodiscard]] std::string kernel_text(const Operation& operation, const Variant& variant);

}  // namespace softgpu::ops
