// One row of the tables of instructions under test: how it is written, the types of its operands, and what it
// must compute, by a function of the operands' bits that shares nothing with the engine. Thread rule:
// immutable. Failure rule: none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace softgpu::ops {

// The bits of up to four operands, each in the low bits of its word.
using Reference = std::function<std::uint64_t(const std::uint64_t* operands)>;

// Types by their PTX name. u8 and s8 lie in a 32-bit register, whose other bits are noise for a source and
// the extension of the sign for a result.
struct Operation {
  std::string name;  // opcode and modifiers
  std::string text;  // with $d, $a, $b, $c, $e for the operands
  std::string result;
  std::vector<std::string> sources;
  Reference reference;
};

using Operations = std::vector<Operation>;

// "name $d, $a, ...;"
void add(Operations& to, const std::string& name, const std::string& result, std::vector<std::string> sources,
         Reference reference);
void add_text(Operations& to, const std::string& name, const std::string& text, const std::string& result,
              std::vector<std::string> sources, Reference reference);

[[nodiscard]] unsigned width_of(const std::string& type);  // bits of a value: 1 for pred
// The values of `type` at which implementations go wrong.
[[nodiscard]] const std::vector<std::uint64_t>& hard_values(const std::string& type);

// Some value of `type` made of any bits.
[[nodiscard]] std::uint64_t random_value(const std::string& type, std::uint64_t bits);

// The tables.
[[nodiscard]] Operations integer_operations();
[[nodiscard]] Operations bit_operations();
[[nodiscard]] Operations comparison_operations();
[[nodiscard]] Operations floating_operations();
[[nodiscard]] Operations half_operations();
[[nodiscard]] Operations approximate_operations();
[[nodiscard]] Operations conversion_operations();

}  // namespace softgpu::ops
