// fp16 and bf16 values: widening, and narrowing from double with one rounding. For the files compiled once
// per CPU level.
#pragma once

#include "tools/softgpu/engine/kernels/real.hpp"

namespace softgpu::engine {
namespace {

inline float widen_f16(u16 half) {
  const u32 sign = u32{half & 0x8000u} << 16, body = half & 0x7fffu;
  const float tiny = static_cast<float>(static_cast<s32>(body)) * 0x1p-24f;
  const u32 normal = (body << 13) + (body >= 0x7c00u ? (255u - 31u) << 23 : (127u - 15u) << 23);
  return bits_as<float>((body < 0x400u ? bits_as<u32>(tiny) : normal) | sign);
}
inline float widen_bf16(u16 half) { return bits_as<float>(u32{half} << 16); }

// Rounds to nearest even into a format of `Mantissa` explicit bits and greatest exponent `Bias`. The bits
// below come off by adding half of the last place; subnormals by adding a power of two that leaves the
// wanted bits lowest.
template <int Mantissa, int Bias>
inline u16 narrow(double value) {
  const u64 bits = bits_as<u64>(value);
  const u16 sign = static_cast<u16>((bits >> 63) << 15);
  const double size = magnitude(value);
  constexpr int kDrop = 52 - Mantissa;
  const u64 body = bits_as<u64>(size);
  const u64 rounded = (body + ((u64{1} << (kDrop - 1)) - 1) + ((body >> kDrop) & 1)) >> kDrop;
  constexpr u64 kInfinity = u64{2 * Bias + 1} << Mantissa;
  const u64 rebias = u64{1023 - Bias} << Mantissa;
  const u64 normal = rounded - rebias > kInfinity ? kInfinity : rounded - rebias;
  // 2^(52 + least exponent): its unit in the last place is the format's least subnormal.
  const double anchor = bits_as<double>(u64{static_cast<u64>(1023 + 52 + 1 - Bias - Mantissa)} << 52);
  const u64 tiny = bits_as<u64>(size + anchor) - bits_as<u64>(anchor);
  const double least = bits_as<double>(u64{static_cast<u64>(1023 + 1 - Bias)} << 52);
  const u64 finite = size < least ? tiny : normal;
  return size != size ? u16{0x7fff} : static_cast<u16>(finite | sign);
}
inline u16 narrow_f16(double value) { return narrow<10, 15>(value); }
inline u16 narrow_bf16(double value) { return narrow<7, 127>(value); }
// Toward zero: the result of rounding to nearest, one step back where that went away from zero.
template <class Widen, class Narrow>
inline u16 narrow_toward_zero(double value, Widen widen, Narrow nearest) {
  const u16 result = nearest(value);
  const bool away = magnitude(static_cast<double>(widen(result))) > magnitude(value);
  return away ? static_cast<u16>(result - 1) : result;
}

// Toward minus infinity, likewise; in sign and magnitude a step down makes a negative value's bits larger.
template <class Widen, class Narrow>
inline u16 narrow_down(double value, Widen widen, Narrow nearest) {
  const u16 result = nearest(value);
  const bool above = static_cast<double>(widen(result)) > value;
  return static_cast<u16>(result + (above ? ((result & 0x8000) != 0 ? 1 : -1) : 0));
}
template <class Widen, class Narrow>
inline u16 narrow_up(double value, Widen widen, Narrow nearest) {
  const u16 result = nearest(value);
  const bool below = static_cast<double>(widen(result)) < value;
  return static_cast<u16>(result + (below ? ((result & 0x8000) != 0 ? -1 : 1) : 0));
}

// x * y + z of narrow values, rounded to odd in double: narrowing it rounds the exact value once.
inline double fused_odd(double x, double y, double z) {
  const double product = x * y;  // exact: at most 22 bits
  const double sum = product + z;
  const double back = sum - product;
  const double error = (product - (sum - back)) + (z - back);
  const u64 bits = bits_as<u64>(sum);
  const bool adjust = (error > 0.0 || error < 0.0) && (bits & 1) == 0;
  const bool outward = (error > 0.0) == (sum > 0.0);
  return bits_as<double>(bits + (adjust ? (outward ? u64{1} : ~u64{0}) : u64{0}));
}

}  // namespace
}  // namespace softgpu::engine
