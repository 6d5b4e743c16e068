// fp16 and bf16, bit for bit, against their definition: an exact value rounded once.
#include <cmath>

#include "tests/softgpu/engine_values.hpp"

namespace softgpu::test {
namespace {

using EngineHalf = EngineArithmetic;
INSTANTIATE_TEST_SUITE_P(Modes, EngineHalf, testing::ValuesIn(kModes), mode_name);

// Narrow formats by their definition: value, and rounding of an exact value to nearest even.
struct Format {
  int mantissa, bias;
  [[nodiscard]] double value(unsigned bits) const {
    const int exponent = static_cast<int>(bits >> mantissa) & (2 * bias + 1);
    const double fraction = bits & ((1u << mantissa) - 1);
    const double sign = (bits & 0x8000u) != 0 ? -1 : 1;
    if (exponent == 2 * bias + 1) return fraction != 0 ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - mantissa);
    return sign * std::ldexp(fraction + (1 << mantissa), exponent - bias - mantissa);
  }
  // Rounds x + rest, the rest being too small to matter but for a tie.
  [[nodiscard]] unsigned round(__float128 x, bool negative_zero, __float128 rest = 0) const {
    if (x != x) return 0x7fff;
    const unsigned sign = x < 0 || (x == 0 && negative_zero) ? 0x8000u : 0;
    const __float128 size = x < 0 ? -x : x;
    unsigned best = 0;
    // The greatest value not above, then the nearer of it and the next; the infinite one counts as 2^(bias +
    // 1).
    const auto at = [&](unsigned bits) {
      return bits >= static_cast<unsigned>(2 * bias + 1) << mantissa
                 ? static_cast<__float128>(std::ldexp(1.0, bias + 1))
                 : static_cast<__float128>(value(bits));
    };
    const unsigned infinity = static_cast<unsigned>(2 * bias + 1) << mantissa;
    for (unsigned step = 0x4000; step != 0; step /= 2) {
      if (best + step <= infinity && at(best + step) <= size) best += step;
    }
    if (best >= infinity) return infinity | sign;
    const __float128 below = size - at(best), above = at(best + 1) - size;
    const __float128 outward = x < 0 ? -rest : rest;
    const bool tie_goes_up = outward > 0 || (outward == 0 && (best & 1) != 0);
    if (above < below || (above == below && tie_goes_up)) ++best;
    return best | sign;
  }
};
constexpr Format kF16{10, 15}, kBf16{7, 127};
unsigned fused(const Format& f, unsigned x, unsigned y, unsigned z) {
  const double a = f.value(x), b = f.value(y), c = f.value(z);
  const double rough = std::fma(a, b, c);
  if (!std::isfinite(rough))
    return std::isnan(rough) ? 0x7fff : f.round(static_cast<__float128>(rough), false);
  const __float128 product = static_cast<__float128>(a) * b, sum = product + c;
  const __float128 back = sum - product;
  const __float128 rest = (product - (sum - back)) + (c - back);
  return f.round(sum, std::signbit(rough), rest);
}

TEST_P(EngineHalf, Fp16RoundsOnce) {
  const unsigned list[] = {0,      0x8000, 1,      0x3ff,  0x400,  0x3c00,
                           0xbc00, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x3555};
  std::vector<std::uint16_t> a, b, c;
  for (int i = 0; i < kN; ++i) {
    a.push_back(static_cast<std::uint16_t>(i < 144 ? list[i % 12] : random_bits()));
    b.push_back(static_cast<std::uint16_t>(i < 144 ? list[i / 12] : random_bits()));
    c.push_back(static_cast<std::uint16_t>(random_bits()));
  }
  const auto out = machine.upload(std::vector<std::uint16_t>(kN * 8));
  launch("halves", machine.upload(a), machine.upload(b), machine.upload(c), out);
  const auto got = machine.download<std::uint16_t>(out, kN * 8);
  for (int i = 0; i < kN; ++i) {
    const unsigned x = a[i], y = b[i], z = c[i];
    const double scaled = static_cast<float>(kF16.value(x)) * 1.37f;
    const unsigned expected[8] = {
        fused(kF16, x, 0x3c00, y),
        fused(kF16, x, y, (x ^ y) & 0x8000),
        fused(kF16, x, y, z),
        fused(kF16, x, y, z),
        fused(kF16, y, z, x),
        std::isnan(scaled) ? 0x7fffu
        : std::isinf(scaled)
            ? (scaled < 0 ? 0xfc00u : 0x7c00u)
            : kF16.round(static_cast<__float128>(static_cast<float>(scaled)), std::signbit(scaled)),
        kF16.value(x) < kF16.value(y) ? x : y,
        x ^ 0x8000};
    for (int k = 0; k < 8; ++k)
      EXPECT_EQ(got[i * 8 + k], expected[k]) << k << ": " << std::hex << x << " " << y << " " << z;
  }
}

TEST_P(EngineHalf, Bf16RoundsOnce) {
  std::vector<std::uint16_t> a, b;
  for (int i = 0; i < kN; ++i) {
    a.push_back(static_cast<std::uint16_t>(random_bits()));
    b.push_back(static_cast<std::uint16_t>(random_bits()));
  }
  const auto out = machine.upload(std::vector<std::uint16_t>(kN * 2));
  launch("bfloats", machine.upload(a), machine.upload(b), out);
  const auto got = machine.download<std::uint16_t>(out, kN * 2);
  for (int i = 0; i < kN; ++i) {
    const float product = static_cast<float>(kBf16.value(a[i])) * static_cast<float>(kBf16.value(b[i]));
    const unsigned expected = std::isnan(product) ? 0x7fffu
                              : std::isinf(product)
                                  ? (product < 0 ? 0xff80u : 0x7f80u)
                                  : kBf16.round(static_cast<__float128>(product), std::signbit(product));
    EXPECT_EQ(got[i * 2], expected) << std::hex << a[i] << " " << b[i];
    EXPECT_EQ(got[i * 2 + 1], fused(kBf16, a[i], b[i], a[i])) << std::hex << a[i] << " " << b[i];
  }
}

}  // namespace
}  // namespace softgpu::test
