// What PTX says about floating-point values that x86 does otherwise: canonical NaN, minimum and maximum,
// flushing, saturation. For the files compiled once per CPU level.
#pragma once

#include "tools/softgpu/engine/kernels/map.hpp"

namespace softgpu::engine {
namespace {

template <class T>
struct Bits;
template <>
struct Bits<float> {
  using Type = u32;
  static constexpr u32 kNan = 0x7fffffffu, kSign = 0x80000000u, kLeastNormal = 0x00800000u;
};
template <>
struct Bits<double> {
  using Type = u64;
  static constexpr u64 kNan = 0x7ff8000000000000u, kSign = u64{1} << 63, kLeastNormal = u64{1} << 52;
};
template <class T>
using BitsOf = typename Bits<T>::Type;

template <class T>
inline T nan_of() {
  return bits_as<T>(Bits<T>::kNan);
}
template <class T>
inline T canonical(T x) {
  return x != x ? nan_of<T>() : x;
}
template <class T>
inline T magnitude(T x) {
  return bits_as<T>(static_cast<BitsOf<T>>(bits_as<BitsOf<T>>(x) & ~Bits<T>::kSign));
}
template <bool Ftz, class T>
inline T flush(T x) {
  if constexpr (!Ftz) return x;
  const BitsOf<T> bits = bits_as<BitsOf<T>>(x);
  const bool tiny = (bits & ~Bits<T>::kSign) < Bits<T>::kLeastNormal;
  return bits_as<T>(static_cast<BitsOf<T>>(tiny ? bits & Bits<T>::kSign : bits));
}
template <bool Sat, class T>
inline T saturate(T x) {
  if constexpr (!Sat) return x;
  return x > T(0) ? (x < T(1) ? x : T(1)) : T(0);
}
template <bool Ftz, bool Sat, class T>
inline T finish(T x) {
  return saturate<Sat>(canonical(flush<Ftz>(x)));
}
// One NaN gives the other operand; -0 is less than +0.
template <class T>
inline T minimum(T x, T y) {
  const T equal = bits_as<T>(static_cast<BitsOf<T>>(bits_as<BitsOf<T>>(x) | bits_as<BitsOf<T>>(y)));
  const T least = x < y ? x : y < x ? y : x == y ? equal : x != x ? y : x;
  return canonical(least);
}
template <class T>
inline T maximum(T x, T y) {
  const T equal = bits_as<T>(static_cast<BitsOf<T>>(bits_as<BitsOf<T>>(x) & bits_as<BitsOf<T>>(y)));
  const T greatest = x > y ? x : y > x ? y : x == y ? equal : x != x ? y : x;
  return canonical(greatest);
}
template <class T>
inline T minimum_nan(T x, T y) {
  return x != x || y != y ? nan_of<T>() : minimum(x, y);
}
template <class T>
inline T maximum_nan(T x, T y) {
  return x != x || y != y ? nan_of<T>() : maximum(x, y);
}
inline float fused(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
inline double fused(double x, double y, double z) { return __builtin_fma(x, y, z); }
inline float root(float x) { return __builtin_sqrtf(x); }
inline double root(double x) { return __builtin_sqrt(x); }

}  // namespace
}  // namespace softgpu::engine
