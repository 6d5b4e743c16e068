// ex2, lg2, sin, cos and tanh: softgpu promises the correctly rounded value. The reference is the C library's
// 64-bit significand, rounded; its error could only matter within 2^-39 of a tie, where no tested value lies.
#include <cmath>

#include "tests/softgpu/ops/formats.hpp"
#include "tests/softgpu/ops/operation.hpp"

namespace softgpu::ops {
namespace {

using Word = std::uint64_t;
using Function = long double (*)(long double);

Reference rounded(const Format& format, bool flushes, Function function) {
  return [=](const Word* x) {
    const Quad value = decode(format, flushes ? flush(format, x[0]) : x[0]);
    const Word bits = encode(format, {static_cast<Quad>(function(static_cast<long double>(value))), 0});
    return flushes ? flush(format, bits) : bits;
  };
}

struct Row {
  const char* name;
  const char* source;
  Function function;
};

}  // namespace

Operations approximate_operations() {
  Operations to;
  // sin and cos promise nothing far from zero, where PTX does not either: "f32angle" ends at 2^20.
  const Row rows[] = {{"ex2", "f32", std::exp2},
                      {"lg2", "f32", std::log2},
                      {"sin", "f32angle", std::sin},
                      {"cos", "f32angle", std::cos}};
  for (const Row& row : rows) {
    add(to, std::string(row.name) + ".approx.f32", "f32", {row.source}, rounded(kF32, false, row.function));
    add(to, std::string(row.name) + ".approx.ftz.f32", "f32", {row.source},
        rounded(kF32, true, row.function));
  }
  add(to, "tanh.approx.f32", "f32", {"f32"}, rounded(kF32, false, std::tanh));
  const auto pair = [](const Reference& on_half) {
    return [=](const Word* x) {
      const Word low = x[0] & 0xffff, high = x[0] >> 16;
      return on_half(&low) | on_half(&high) << 16;
    };
  };
  const auto both = [&](const std::string& name, const std::string& type, const Reference& on_half) {
    add(to, name + "." + type, type, {type}, on_half);
    add(to, name + "." + type + "x2", type + "x2", {type + "x2"}, pair(on_half));
  };
  both("ex2.approx", "f16", rounded(kF16, false, std::exp2));
  both("ex2.approx.ftz", "bf16", rounded(kBf16, true, std::exp2));
  both("tanh.approx", "f16", rounded(kF16, false, std::tanh));
  both("tanh.approx", "bf16", rounded(kBf16, false, std::tanh));
  return to;
}

}  // namespace softgpu::ops
