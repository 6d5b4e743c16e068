// Each operation against a scalar reference, bit for bit, over awkward values and random bit patterns.
#include <cfenv>
#include <cmath>
#include <limits>

#include "tests/softgpu/engine_values.hpp"

namespace softgpu::test {
namespace {

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }
float canonical(float x) { return std::isnan(x) ? std::bit_cast<float>(0x7fffffffu) : x; }
double canonical(double x) {
  return std::isnan(x) ? std::bit_cast<double>(std::uint64_t{0x7ff8000000000000}) : x;
}

std::vector<float> awkward_floats(std::size_t count, unsigned rotate) {
  const float inf = std::numeric_limits<float>::infinity();
  const float list[] = {0.0f,
                        -0.0f,
                        1.0f,
                        -1.0f,
                        0.5f,
                        1.5f,
                        2.5f,
                        -2.5f,
                        inf,
                        -inf,
                        NAN,
                        1e-45f,
                        -1e-45f,
                        1.17549435e-38f,
                        1.1754942e-38f,
                        3.4028235e38f,
                        -3.4028235e38f,
                        2147483648.0f,
                        -2147483648.0f,
                        4294967296.0f,
                        9.223372e18f,
                        1.8446744e19f,
                        0.99999994f,
                        100.3f,
                        -7.75f};
  constexpr std::size_t kListed = std::size(list);
  std::vector<float> values;
  // Every pair of listed values, then patterns.
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t k = rotate == 0 ? i % kListed : i / kListed + rotate * i;
    values.push_back(i < kListed * kListed ? list[k % kListed]
                                           : std::bit_cast<float>(static_cast<std::uint32_t>(random_bits())));
  }
  return values;
}
template <class F>
auto rounded(int mode, F f) {
  std::fesetround(mode);
  const volatile auto result = f();
  std::fesetround(FE_TONEAREST);
  const auto plain = result;
  return plain;
}

INSTANTIATE_TEST_SUITE_P(Modes, EngineArithmetic, testing::ValuesIn(kModes), mode_name);

float least(float x, float y) {
  if (std::isnan(x) || std::isnan(y)) return canonical(std::isnan(x) ? y : x);
  return x == y ? (std::signbit(x) ? x : y) : x < y ? x : y;
}
float greatest(float x, float y) {
  if (std::isnan(x) || std::isnan(y)) return canonical(std::isnan(x) ? y : x);
  return x == y ? (std::signbit(x) ? y : x) : x < y ? y : x;
}

TEST_P(EngineArithmetic, Fp32) {
  const auto a = awkward_floats(kN, 0), b = awkward_floats(kN, 1), c = awkward_floats(kN, 2);
  const auto out = machine.upload(std::vector<float>(kN * 20));
  launch("floats", machine.upload(a), machine.upload(b), machine.upload(c), out);
  const auto got = machine.download<float>(out, kN * 20);
  for (int i = 0; i < kN; ++i) {
    const volatile float x = a[i], y = b[i], z = c[i];
    const float expected[20] = {
        x + y,
        x - y,
        x * y,
        std::fma(x, y, z),
        x / y,
        std::sqrt(x),
        1.0f / x,
        least(x, y),
        greatest(x, y),
        rounded(FE_TOWARDZERO, [&] { return x + y; }),
        rounded(FE_UPWARD, [&] { return x * y; }),
        rounded(
            FE_DOWNWARD,
            [&] { return std::fma(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)); }),
        x > 0 ? (x < 1 ? x : 1.0f) : 0.0f,
        std::nearbyint(x),
        std::floor(x),
        std::ceil(x),
        std::trunc(x),
        std::copysign(x, y),
        std::fabs(x),
        -x};
    for (int k = 0; k < 17; ++k) {
      EXPECT_EQ(bits_of(got[i * 20 + k]), bits_of(canonical(expected[k])))
          << k << ": " << x << " " << y << " " << z;
    }
    for (int k = 17; k < 20; ++k)
      EXPECT_EQ(bits_of(got[i * 20 + k]), bits_of(expected[k])) << k << ": " << x << " " << y;
  }
}

float flushed(float x) { return std::fabs(x) < 1.17549435e-38f ? std::copysign(0.0f, x) : x; }
TEST_P(EngineArithmetic, FlushingToZero) {
  const auto a = awkward_floats(kN, 0), b = awkward_floats(kN, 1);
  const auto out = machine.upload(std::vector<float>(kN * 4));
  launch("flushes", machine.upload(a), machine.upload(b), out);
  const auto got = machine.download<float>(out, kN * 4);
  for (int i = 0; i < kN; ++i) {
    const float x = flushed(a[i]), y = flushed(b[i]);
    const float expected[4] = {flushed(x + y), flushed(x * y), flushed(std::fma(x, y, x)),
                               x < y ? 1.0f : 0.0f};
    for (int k = 0; k < 4; ++k)
      EXPECT_EQ(bits_of(got[i * 4 + k]), bits_of(canonical(expected[k]))) << k << ": " << x << " " << y;
  }
}

// Correctly rounded but for the double library's own last bits: one unit in the last place of slack for
// those.
void expect_near(float got, double exact, int k, float x) {
  const float nearest = canonical(static_cast<float>(exact));
  if (bits_of(got) == bits_of(nearest)) return;
  const float below = std::nextafter(nearest, -INFINITY), above = std::nextafter(nearest, INFINITY);
  const double halfway = (static_cast<double>(nearest) + (got < nearest ? below : above)) / 2;
  EXPECT_TRUE(got == below || got == above) << k << "(" << x << ") = " << got << ", not " << nearest;
  EXPECT_LT(std::fabs(exact - halfway), std::fabs(exact) * 1e-12)
      << k << "(" << x << ") = " << got << ", not " << nearest;
}
TEST_P(EngineArithmetic, ApproximationsAreCorrectlyRounded) {
  std::vector<float> a = awkward_floats(kN, 0);
  for (int i = 600; i < kN; ++i) a[i] = static_cast<float>(i - 1000) * 0.0371f * (i % 3 == 0 ? 0.01f : 1.0f);
  const auto out = machine.upload(std::vector<float>(kN * 7));
  launch("approximations", machine.upload(a), out);
  const auto got = machine.download<float>(out, kN * 7);
  for (int i = 0; i < kN; ++i) {
    const double x = a[i];
    expect_near(got[i * 7], std::exp2(x), 0, a[i]);
    expect_near(got[i * 7 + 1], std::log2(x), 1, a[i]);
    expect_near(got[i * 7 + 2], 1 / std::sqrt(x), 2, a[i]);
    if (!(std::fabs(x) > 1e5) || std::isinf(x)) {
      expect_near(got[i * 7 + 3], std::sin(x), 3, a[i]);
      expect_near(got[i * 7 + 4], std::cos(x), 4, a[i]);
    }
    expect_near(got[i * 7 + 5], std::tanh(x), 5, a[i]);
    EXPECT_EQ(bits_of(got[i * 7 + 6]), bits_of(canonical(1.0f / a[i])));
  }
}

TEST_P(EngineArithmetic, Fp64) {
  std::vector<double> a, b, c;
  for (const float x : awkward_floats(kN, 0)) a.push_back(x * 1.000000001);
  for (const float x : awkward_floats(kN, 1)) b.push_back(x * 0.7);
  for (int i = 0; i < kN; ++i) c.push_back(std::bit_cast<double>(random_bits()));
  const auto out = machine.upload(std::vector<double>(kN * 9));
  launch("doubles", machine.upload(a), machine.upload(b), machine.upload(c), out);
  const auto got = machine.download<double>(out, kN * 9);
  for (int i = 0; i < kN; ++i) {
    const volatile double x = a[i], y = b[i];
    const double least_of = std::isnan(x)   ? y
                            : std::isnan(y) ? x
                            : x == y        ? (std::signbit(x) ? x : y)
                            : x < y         ? x
                                            : y;
    const double whole = std::isnan(x) || x < -9223372036854775808.0 ? -9223372036854775808.0
                         : x >= 9223372036854775808.0                ? 9223372036854775808.0
                                                      : static_cast<double>(static_cast<long long>(x));
    const double expected[9] = {x + y,
                                x * y,
                                std::fma(a[i], b[i], c[i]),
                                x / y,
                                std::sqrt(x),
                                least_of,
                                static_cast<float>(x),
                                whole,
                                rounded(FE_UPWARD, [&] { return x + y; })};
    for (int k = 0; k < 9; ++k)
      EXPECT_EQ(bits_of(got[i * 9 + k]), bits_of(canonical(expected[k]))) << k << ": " << x << " " << y;
  }
}

template <class T>
long long saturated(double x) {
  constexpr bool kWide = sizeof(T) == 8;
  if (std::isnan(x)) return kWide ? static_cast<long long>(std::uint64_t{1} << 63) : 0;
  if (x >= std::ldexp(1.0, std::numeric_limits<T>::digits))
    return static_cast<long long>(std::numeric_limits<T>::max());
  if (x < static_cast<double>(std::numeric_limits<T>::min()))
    return static_cast<long long>(std::numeric_limits<T>::min());
  return static_cast<long long>(static_cast<T>(x));
}
TEST_P(EngineArithmetic, ConversionToIntegersSaturates) {
  const auto a = awkward_floats(kN, 0);
  const auto out = machine.upload(std::vector<long long>(kN * 7));
  launch("to_integers", machine.upload(a), out);
  const auto got = machine.download<long long>(out, kN * 7);
  for (int i = 0; i < kN; ++i) {
    const double x = a[i];
    const long long expected[7] = {saturated<int>(std::trunc(x)),
                                   saturated<unsigned>(std::trunc(x)),
                                   saturated<int>(std::nearbyint(x)),
                                   saturated<long long>(x),
                                   saturated<unsigned long long>(std::trunc(x)),
                                   saturated<int>(std::floor(x)),
                                   saturated<int>(std::ceil(x))};
    for (int k = 0; k < 7; ++k) EXPECT_EQ(got[i * 7 + k], expected[k]) << k << ": " << x;
  }
}

TEST_P(EngineArithmetic, Integers) {
  const int list[] = {0, 1, -1, 2, 31, 32, 255, -128, 65535, 0x7fffffff, -0x7fffffff - 1, 0x12345678};
  std::vector<int> a, b, c;
  for (int i = 0; i < kN; ++i) {
    a.push_back(i < 144 ? list[i % 12] : static_cast<int>(random_bits()));
    b.push_back(i < 144 ? list[i / 12] : static_cast<int>(random_bits() >> (i % 40)));
    c.push_back(static_cast<int>(random_bits()));
  }
  const auto out = machine.upload(std::vector<long long>(kN * 34));
  launch("integers", machine.upload(a), machine.upload(b), machine.upload(c), out);
  const auto got = machine.download<long long>(out, kN * 34);
  for (int i = 0; i < kN; ++i) {
    using L = long long;
    using U = unsigned;
    const int x = a[i], y = b[i], z = c[i];
    const U ux = static_cast<U>(x), uy = static_cast<U>(y), uz = static_cast<U>(z);
    const L la = static_cast<L>(static_cast<unsigned long long>(static_cast<L>(x)) << 31) ^ y;
    const L lb = static_cast<L>((static_cast<unsigned long long>(static_cast<L>(z)) << 7) +
                                static_cast<unsigned long long>(static_cast<L>(x)));
    const bool overflow = x == -0x7fffffff - 1 && y == -1;
    U reversed = 0, permuted = 0, looked_up = 0;
    for (U k = 0; k < 32; ++k) {
      reversed |= (ux >> k & 1) << (31 - k);
      looked_up |= (0x6au >> ((ux >> k & 1) << 2 | (uy >> k & 1) << 1 | (uz >> k & 1)) & 1) << k;
    }
    const std::uint64_t pool = ux | static_cast<std::uint64_t>(uy) << 32;
    for (U k = 0; k < 4; ++k) permuted |= static_cast<U>(pool >> (8 * (uz >> (4 * k) & 7)) & 0xff) << (8 * k);
    const std::uint64_t sum = static_cast<std::uint64_t>(ux) + uy;
    const L expected[34] = {
        static_cast<int>(ux + uy),
        static_cast<int>(ux * uy + uz),
        static_cast<int>(static_cast<L>(x) * y >> 32),
        static_cast<U>(static_cast<std::uint64_t>(ux) * uy >> 32),
        static_cast<L>(x) * y,
        y == 0     ? 0
        : overflow ? x
                   : x / y,
        y == 0 || overflow ? 0 : x % y,
        uy == 0 ? 0 : ux / uy,
        uy == 0 ? 0 : ux % uy,
        lb == 0 ? 0 : la / lb,
        lb == 0 ? 0 : la % lb,
        static_cast<L>(static_cast<unsigned long long>(la) * static_cast<unsigned long long>(lb)),
        static_cast<L>(static_cast<__int128>(la) * lb >> 64),
        static_cast<int>(ux << (uy & 31)),
        x >> (y & 31),
        ux >> (uy & 31),
        __builtin_popcount(ux),
        x == 0 ? 32 : __builtin_clz(ux),
        __builtin_ffs(x),
        static_cast<L>(reversed),
        static_cast<L>(permuted),
        static_cast<L>(static_cast<U>((static_cast<std::uint64_t>(uy) << 32 | ux) << (uz & 31) >> 32)),
        x < y ? x : y,
        ux < uy ? uy : ux,
        x < 0 ? static_cast<int>(0u - ux) : x,
        static_cast<L>(uz + (x < y ? uy - ux : ux - uy)),
        static_cast<signed char>(x),
        static_cast<unsigned short>(y),
        __builtin_popcountll(static_cast<unsigned long long>(la)),
        la == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(la)),
        static_cast<L>(ux >> 5 & 0x1ff),
        static_cast<L>((uy & ~(0xfffu << 7)) | (ux & 0xfff) << 7),
        static_cast<L>((static_cast<std::uint64_t>(static_cast<U>(uz + (sum >> 32))) << 32) |
                       static_cast<U>(sum)),
        static_cast<L>(looked_up)};
    for (int k = 0; k < 34; ++k)
      EXPECT_EQ(got[i * 34 + k], expected[k]) << k << ": " << x << " " << y << " " << z;
  }
}

}  // namespace
}  // namespace softgpu::test
