// ex2, lg2, sin, cos, tanh, rsqrt: evaluated in double by our own polynomials and rounded once, so that the
// result is the same whatever the machine and its C library. They lie within PTX's bounds; a GPU's last bits
// may differ.
#include "tools/softgpu/engine/kernels/narrow.hpp"

namespace softgpu::engine::SOFTGPU_LEVEL {
namespace {

// 2^x for |x| <= 1100, by 2^k * 2^r with |r| <= 1/2; the series of e^(r ln 2).
inline double power_of_two(double x) {
  constexpr double kMagic = 0x1.8p52;  // adding it rounds to an integer, which is then in the low bits
  const double shifted = x + kMagic;
  const double r = (x - (shifted - kMagic)) * 0x1.62e42fefa39efp-1;
  const s64 k = bits_as<s64>(shifted) - bits_as<s64>(kMagic);
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  return p * bits_as<double>((k + 1023) << 52);
}
inline double exponential_wide(double x) {
  const double clamped = x < -200.0 ? -200.0 : x > 200.0 ? 200.0 : x;
  return x != x ? x : power_of_two(clamped);
}
inline float exponential(float x) { return static_cast<float>(exponential_wide(static_cast<double>(x))); }
// log2 x: exponent, and 2/ln2 * artanh((m - 1) / (m + 1)) for the mantissa m in [sqrt(1/2), sqrt 2).
inline float logarithm(float x) {
  const double wide = static_cast<double>(x);
  const u64 bits = bits_as<u64>(wide);
  const s64 offset = static_cast<s64>(bits - 0x3fe6a09e667f3bcdu) >> 52;
  const double m = bits_as<double>(bits - (static_cast<u64>(offset) << 52));
  const double exponent = bits_as<double>(static_cast<u64>(offset) + bits_as<u64>(0x1.8p52)) - 0x1.8p52;
  const double s = (m - 1.0) / (m + 1.0), q = s * s;
  double p = 1.0 / 21.0;
  p = p * q + 1.0 / 19.0;
  p = p * q + 1.0 / 17.0;
  p = p * q + 1.0 / 15.0;
  p = p * q + 1.0 / 13.0;
  p = p * q + 1.0 / 11.0;
  p = p * q + 1.0 / 9.0;
  p = p * q + 1.0 / 7.0;
  p = p * q + 1.0 / 5.0;
  p = p * q + 1.0 / 3.0;
  p = p * q + 1.0;
  const float y = static_cast<float>(exponent + p * s * 0x1.71547652b82fep1);
  const float infinity = bits_as<float>(0x7f800000u);
  return x > 0.0f ? (x == infinity ? x : y) : x == 0.0f ? -infinity : nan_of<float>();
}
// sin(x + quarter * pi/2), by reduction to |r| <= pi/4.
inline float sinusoid(float x, s64 quarter) {
  constexpr double kMagic = 0x1.8p52;
  const double bounded = magnitude(x) < 0x1p40f ? static_cast<double>(x) : 0.0;
  const double shifted = bounded * 0x1.45f306dc9c883p-1 + kMagic;
  const double k = shifted - kMagic;
  // pi/2 in three parts of 33 bits and a rest: the products are exact for |k| < 2^20.
  double r = bounded - k * 0x1.921fb544p0;
  r = r - k * 0x1.0b4611a6p-34;
  r = r - k * 0x1.3198a2e037073p-69;
  const s64 turns = bits_as<s64>(shifted) - bits_as<s64>(kMagic) + quarter;
  const double q = r * r;
  double s = 1.0 / 355687428096000.0;
  s = s * q - 1.0 / 1307674368000.0;
  s = s * q + 1.0 / 6227020800.0;
  s = s * q - 1.0 / 39916800.0;
  s = s * q + 1.0 / 362880.0;
  s = s * q - 1.0 / 5040.0;
  s = s * q + 1.0 / 120.0;
  s = s * q - 1.0 / 6.0;
  s = r + r * q * s;
  double c = -1.0 / 6402373705728000.0;
  c = c * q + 1.0 / 20922789888000.0;
  c = c * q - 1.0 / 87178291200.0;
  c = c * q + 1.0 / 479001600.0;
  c = c * q - 1.0 / 3628800.0;
  c = c * q + 1.0 / 40320.0;
  c = c * q - 1.0 / 720.0;
  c = c * q + 1.0 / 24.0;
  c = c * q - 0.5;
  c = 1.0 + q * c;
  const double value = (turns & 1) != 0 ? c : s;
  const float y = static_cast<float>((turns & 2) != 0 ? -value : value);
  const bool finite = (bits_as<u32>(x) & 0x7fffffffu) < 0x7f800000u;
  return !finite ? nan_of<float>() : x == 0.0f && quarter == 0 ? x : y;
}
inline double hyperbolic(double x) {
  const double q = x * x;
  double series = 62.0 / 2835.0;
  series = series * q - 17.0 / 315.0;
  series = series * q + 2.0 / 15.0;
  series = series * q - 1.0 / 3.0;
  series = x + x * q * series;
  const double bounded = x > 30.0 ? 30.0 : x < -30.0 ? -30.0 : x;
  const double e = power_of_two(bounded * 0x1.71547652b82fep1);
  const double quotient = (e - 1.0) / (e + 1.0);
  return x == 0.0 ? x : q < 0x1p-10 ? series : quotient;
}
inline double tangent_wide(double x) { return x != x ? x : hyperbolic(x); }
inline float tangent(float x) { return static_cast<float>(tangent_wide(static_cast<double>(x))); }
inline float inverse_root(float x) {
  return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x)));
}

#define APPROXIMATE(op, value)                                                                              \
  UNARY(op ".f32", float, float, kNone, (finish<false, false, float>(([](float a) { return value; })(x)))), \
      UNARY(op ".ftz.f32", float, float, kNone,                                                             \
            (finish<true, false, float>(([](float a) { return value; })(flush<true>(x)))))

// fp16 and bf16, one or two: the value in double, narrowed once.
inline u16 exponential_f16(u16 x) { return narrow_f16(exponential_wide(static_cast<double>(widen_f16(x)))); }
inline u16 exponential_bf16(u16 x) {
  const u16 y = narrow_bf16(exponential_wide(static_cast<double>(widen_bf16(x))));
  return (y & 0x7f80) == 0 ? u16{0} : y;
}
inline u16 tangent_f16(u16 x) { return narrow_f16(tangent_wide(static_cast<double>(widen_f16(x)))); }
inline u16 tangent_bf16(u16 x) { return narrow_bf16(tangent_wide(static_cast<double>(widen_bf16(x)))); }
#define HALVES(key, function)               \
  UNARY(key, u16, u16, kNone, function(x)), \
      UNARY(key "x2", u32, u32, kNone,      \
            u32{function(static_cast<u16>(x))} | u32{function(static_cast<u16>(x >> 16))} << 16)

constexpr Row kRows[] = {
    APPROXIMATE("ex2", exponential(a)),
    APPROXIMATE("lg2", logarithm(a)),
    APPROXIMATE("sin", sinusoid(a, 0)),
    APPROXIMATE("cos", sinusoid(a, 1)),
    APPROXIMATE("tanh", tangent(a)),
    APPROXIMATE("rsqrt", inverse_root(a)),
    HALVES("ex2.f16", exponential_f16),
    HALVES("ex2.ftz.bf16", exponential_bf16),
    HALVES("tanh.f16", tangent_f16),
    HALVES("tanh.bf16", tangent_bf16),
    UNARY("rsqrt.f64", double, double, kNone, (finish<false, false, double>(1.0 / root(x)))),
    UNARY("rsqrt.ftz.f64", double, double, kNone, (finish<true, false, double>(1.0 / root(flush<true>(x))))),
    UNARY("rcp.ftz.f64", double, double, kNone, (finish<true, false, double>(1.0 / flush<true>(x)))),
};

}  // namespace

Table<Row> approximate_rows() { return table_of(kRows); }

}  // namespace softgpu::engine::SOFTGPU_LEVEL
