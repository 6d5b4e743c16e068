// The exact formats against the host's own arithmetic, in the modes and formats that the host has.
#include "tests/softgpu/ops/formats.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <random>

namespace softgpu::ops {
namespace {

struct Mode {
  Rounding rounding;
  int host;
};
constexpr Mode kModes[] = {{Rounding::kNearest, FE_TONEAREST},
                           {Rounding::kZero, FE_TOWARDZERO},
                           {Rounding::kDown, FE_DOWNWARD},
                           {Rounding::kUp, FE_UPWARD}};

// Any bits, or three numbers of like size, so that sums cancel.
float random_float(std::mt19937_64& random) {
  const auto bits = static_cast<std::uint32_t>(random());
  return std::bit_cast<float>(random() % 2 == 0 ? bits : (bits & 0x81ffffffu) | 0x3f000000u);
}
double random_double(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  return std::bit_cast<double>(random() % 2 == 0 ? bits : (bits & 0x803fffffffffffff) | 0x3fe0000000000000);
}

std::uint64_t bits_of(float value) {
  return std::isnan(value) ? kF32.nan : std::bit_cast<std::uint32_t>(value);
}
std::uint64_t bits_of(double value) {
  return std::isnan(value) ? kF64.nan : std::bit_cast<std::uint64_t>(value);
}

template <class T>
T operate(int operation, const volatile T& a, const volatile T& b, const volatile T& c) {
  switch (operation) {
    case 0:
      return a + b;
    case 1:
      return a * b;
    case 2:
      return a / b;
    case 3:
      return std::fma(a, b, c);
    default:
      return std::sqrt(a);
  }
}
Exact operate_exactly(int operation, Quad a, Quad b, Quad c, Rounding rounding) {
  switch (operation) {
    case 0:
      return add(a, b, rounding);
    case 1:
      return {a * b, 0};
    case 2:
      return {a / b, 0};
    case 3:
      return fused(a, b, c, rounding);
    default:
      return {square_root(a), 0};
  }
}

template <class T, class Random>
void compare(const Format& format, Random next) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20000; ++round) {
    const volatile T a = next(random), b = next(random), c = next(random);
    for (const Mode& mode : kModes) {
      std::fesetround(mode.host);
      const T host = operate<T>(round % 5, a, b, c);
      std::fesetround(FE_TONEAREST);
      const Exact exact = operate_exactly(round % 5, decode(format, bits_of(a)), decode(format, bits_of(b)),
                                          decode(format, bits_of(c)), mode.rounding);
      ASSERT_EQ(encode(format, exact, mode.rounding), bits_of(host))
          << round % 5 << " " << a << " " << b << " " << c;
    }
  }
}

TEST(Formats, AgreeWithTheHostOnFloat) { compare<float>(kF32, random_float); }
TEST(Formats, AgreeWithTheHostOnDouble) { compare<double>(kF64, random_double); }

TEST(Formats, GoThroughEveryHalfUnchanged) {
  for (const Format& format : {kF16, kBf16}) {
    for (std::uint64_t bits = 0; bits < 0x10000; ++bits) {
      const std::uint64_t same = is_nan(format, bits) ? bits : encode(format, {decode(format, bits), 0});
      ASSERT_EQ(same, bits);
    }
  }
}

TEST(Formats, RoundTiesAndRests) {
  const Quad tie = decode(kF32, 0x3f801000);  // 1 + 2^-11
  EXPECT_EQ(encode(kF16, {tie, 0}), 0x3c00u);
  EXPECT_EQ(encode(kF16, {tie, 1}), 0x3c01u);
  EXPECT_EQ(encode(kF16, {tie, 0}, Rounding::kNearestAway), 0x3c01u);
  EXPECT_EQ(encode(kF16, {tie, -1}, Rounding::kNearestAway), 0x3c00u);
  EXPECT_EQ(encode(kF16, {Quad(1), -1}, Rounding::kZero), 0x3bffu);
  EXPECT_EQ(encode(kF16, {Quad(1), 1}, Rounding::kUp), 0x3c01u);
  EXPECT_EQ(encode(kF16, {-Quad(1), -1}, Rounding::kDown), 0xbc01u);
  EXPECT_EQ(encode(kF16, {Quad(65519), 0}), 0x7bffu);
  EXPECT_EQ(encode(kF16, {Quad(65520), 0}), 0x7c00u);
  EXPECT_EQ(encode(kTf32, {tie, 0}, Rounding::kNearestAway), 0x3f802000u);
}

TEST(Formats, RoundToIntegers) {
  EXPECT_EQ(static_cast<double>(round_to_integer(Quad(2.5), Rounding::kNearest)), 2.0);
  EXPECT_EQ(static_cast<double>(round_to_integer(Quad(-2.5), Rounding::kDown)), -3.0);
  EXPECT_EQ(static_cast<double>(round_to_integer(Quad(-2.5), Rounding::kZero)), -2.0);
  EXPECT_EQ(static_cast<double>(round_to_integer(Quad(0.25), Rounding::kUp)), 1.0);
  EXPECT_TRUE(is_negative(round_to_integer(Quad(-0.25), Rounding::kNearest)));
}

}  // namespace
}  // namespace softgpu::ops
