// Binary floating-point formats by their definition: values are exact quadruples, results are rounded bit by
// bit. Shares nothing with the engine, nor with the host's own rounding. Called by the reference functions.
// Thread rule: pure. Failure rule: none.
#pragma once

#include <cstdint>

namespace softgpu::ops {

using Quad = __float128;  // 113 bits: a product of two doubles is exact

struct Format {
  int precision;  // bits of the significand, the hidden one included
  int exponent_bits;
  std::uint64_t nan;  // what arithmetic makes
  int shift = 0;      // unused low bits of the container
};
inline constexpr Format kF16{11, 5, 0x7fff};
inline constexpr Format kBf16{8, 8, 0x7fff};
inline constexpr Format kF32{24, 8, 0x7fffffff};
inline constexpr Format kF64{53, 11, 0x7ff8000000000000};
inline constexpr Format kTf32{11, 8, 0x7fffffff, 13};

enum class Rounding : std::uint8_t { kNearest, kZero, kDown, kUp, kNearestAway };

// A value that may lie a little below (-1) or above (+1) the quadruple.
struct Exact {
  Quad value = 0;
  int rest = 0;
};

[[nodiscard]] Quad decode(const Format& format, std::uint64_t bits);
[[nodiscard]] std::uint64_t encode(const Format& format, const Exact& exact,
                                   Rounding rounding = Rounding::kNearest);

[[nodiscard]] std::uint64_t sign_bit(const Format& format);
[[nodiscard]] bool is_nan(const Format& format, std::uint64_t bits);
[[nodiscard]] bool is_subnormal(const Format& format, std::uint64_t bits);
// Subnormals to the zero of their sign.
[[nodiscard]] std::uint64_t flush(const Format& format, std::uint64_t bits);
[[nodiscard]] bool is_negative(Quad value);  // also of zero
[[nodiscard]] bool is_finite(Quad value);

// Of the exact values; the sign of a zero follows IEEE 754.
[[nodiscard]] Exact add(Quad a, Quad b, Rounding rounding);
[[nodiscard]] Exact fused(Quad a, Quad b, Quad c, Rounding rounding);
[[nodiscard]] Quad square_root(Quad value);
// To an integer.
[[nodiscard]] Quad round_to_integer(Quad value, Rounding rounding);

}  // namespace softgpu::ops
