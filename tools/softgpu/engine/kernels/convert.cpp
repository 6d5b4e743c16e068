// cvt. Eight-bit values travel in 16-bit elements, extended as their type says.
#include "tools/softgpu/engine/kernels/narrow.hpp"

namespace softgpu::engine::SOFTGPU_LEVEL {
namespace {

// The element that carries a T.
template <class T>
struct Carrier {
  using Type = T;
};
template <>
struct Carrier<u8> {
  using Type = u16;
};
template <>
struct Carrier<s8> {
  using Type = s16;
};
template <class T>
using CarrierOf = typename Carrier<T>::Type;

template <class T>
struct Limits {
  static constexpr bool kSigned = T(-1) < T(0);
  static constexpr T kMax =
      kSigned ? static_cast<T>((u64{1} << (sizeof(T) * 8 - 1)) - 1) : static_cast<T>(~u64{0});
  static constexpr T kMin = kSigned ? static_cast<T>(u64{1} << (sizeof(T) * 8 - 1)) : T{0};
};
template <class D, class A>
inline D clamp_integer(A x) {
  const s128 wide = static_cast<s128>(+x);
  if (wide > static_cast<s128>(+Limits<D>::kMax)) return Limits<D>::kMax;
  if (wide < static_cast<s128>(+Limits<D>::kMin)) return Limits<D>::kMin;
  return static_cast<D>(x);
}
// A NaN gives 0 between narrow types, else the top bit.
template <class D, class A>
inline D to_integer(A x) {
  constexpr bool kWide = sizeof(A) == 8 || sizeof(D) == 8;
  constexpr D kNan = kWide ? static_cast<D>(u64{1} << (sizeof(D) * 8 - 1)) : D{0};
  constexpr A kBound = static_cast<A>(u64{1} << (sizeof(D) * 8 - (Limits<D>::kSigned ? 2 : 1))) * A(2);
  const bool over = x >= kBound;
  const bool under = Limits<D>::kSigned ? x < -kBound : x < A(0);
  const A safe = over || under || x != x ? A(0) : x;
  const D value = static_cast<D>(safe);
  return x != x ? kNan : over ? Limits<D>::kMax : under ? Limits<D>::kMin : value;
}
inline float nearest(float x) { return __builtin_rintf(x); }
inline double nearest(double x) { return __builtin_rint(x); }
inline float down(float x) { return __builtin_floorf(x); }
inline double down(double x) { return __builtin_floor(x); }
inline float up(float x) { return __builtin_ceilf(x); }
inline double up(double x) { return __builtin_ceil(x); }
inline float chop(float x) { return __builtin_truncf(x); }
inline double chop(double x) { return __builtin_trunc(x); }

#define INTEGERS(D, DT, A, AT)                                                                     \
  UNARY("cvt." D "." A, CarrierOf<DT>, CarrierOf<AT>, kNone, static_cast<DT>(static_cast<AT>(x))), \
      UNARY("cvt.sat." D "." A, CarrierOf<DT>, CarrierOf<AT>, kNone,                               \
            (clamp_integer<DT, AT>(static_cast<AT>(x))))
#define FROM_ALL(D, DT)                                                                      \
  INTEGERS(D, DT, "u8", u8), INTEGERS(D, DT, "s8", s8), INTEGERS(D, DT, "u16", u16),         \
      INTEGERS(D, DT, "s16", s16), INTEGERS(D, DT, "u32", u32), INTEGERS(D, DT, "s32", s32), \
      INTEGERS(D, DT, "u64", u64), INTEGERS(D, DT, "s64", s64)

#define FLOAT_TO(D, DT, A, AT, F)                                                     \
  UNARY("cvt.rni." D "." A, CarrierOf<DT>, AT, kNone, (to_integer<DT>(nearest(F)))),  \
      UNARY("cvt.rzi." D "." A, CarrierOf<DT>, AT, kNone, (to_integer<DT>(chop(F)))), \
      UNARY("cvt.rmi." D "." A, CarrierOf<DT>, AT, kNone, (to_integer<DT>(down(F)))), \
      UNARY("cvt.rpi." D "." A, CarrierOf<DT>, AT, kNone, (to_integer<DT>(up(F))))
#define FLOATS_TO(D, DT)                                               \
  FLOAT_TO(D, DT, "f32", float, x), FLOAT_TO(D, DT, "f64", double, x), \
      FLOAT_TO(D, DT, "f16", u16, widen_f16(x)), FLOAT_TO(D, DT, "bf16", u16, widen_bf16(x))
// Flushing changes an integer only where rounding goes away from zero.
#define FLUSHED_TO(D, DT)                                                                                  \
  UNARY("cvt.rni.ftz." D ".f32", CarrierOf<DT>, float, kNone, (to_integer<DT>(nearest(flush<true>(x))))),  \
      UNARY("cvt.rzi.ftz." D ".f32", CarrierOf<DT>, float, kNone, (to_integer<DT>(chop(flush<true>(x))))), \
      UNARY("cvt.rmi.ftz." D ".f32", CarrierOf<DT>, float, kNone, (to_integer<DT>(down(flush<true>(x))))), \
      UNARY("cvt.rpi.ftz." D ".f32", CarrierOf<DT>, float, kNone, (to_integer<DT>(up(flush<true>(x)))))
#define TO_F16(A, AT)                                                                                    \
  UNARY("cvt.rz.f16." A, u16, AT, kNone, narrow_toward_zero(clamped_for_f16(x), widen_f16, narrow_f16)), \
      UNARY("cvt.rm.f16." A, u16, AT, kNone, narrow_down(clamped_for_f16(x), widen_f16, narrow_f16)),    \
      UNARY("cvt.rp.f16." A, u16, AT, kNone, narrow_up(clamped_for_f16(x), widen_f16, narrow_f16))
#define TO_FLOATS(A, AT)                                                                               \
  UNARY("cvt.f32." A, float, CarrierOf<AT>, kNone, static_cast<float>(static_cast<AT>(x))),            \
      UNARY("cvt.f64." A, double, CarrierOf<AT>, kNone, static_cast<double>(static_cast<AT>(x))),      \
      UNARY("cvt.f16." A, u16, CarrierOf<AT>, kNone, narrow_f16(clamped_for_f16(static_cast<AT>(x)))), \
      UNARY("cvt.bf16." A, u16, CarrierOf<AT>, kNone, narrow_bf16(odd_double(static_cast<AT>(x))))

// An integer as a double that rounds to fp16 as the integer does: all beyond 2^20 is infinity.
template <class T>
inline double clamped_for_f16(T x) {
  const s64 bound = s64{1} << 20;
  const bool over = x > static_cast<T>(0) && static_cast<u64>(x) > static_cast<u64>(bound);
  const bool under = x < static_cast<T>(0) && static_cast<s64>(x) < -bound;
  return static_cast<double>(over ? bound : under ? -bound : static_cast<s64>(x));
}
// An integer as a double rounded to odd.
template <class T>
inline double odd_double(T x) {
  if constexpr (sizeof(T) < 8) return static_cast<double>(x);
  const u64 size = x < T(0) ? u64{0} - static_cast<u64>(x) : static_cast<u64>(x);
  const u64 sticky =
      (size >> 40) != 0 ? (size & ~u64{0xffff}) | ((size & 0xffff) != 0 ? u64{0x10000} : u64{0}) : size;
  const double value = static_cast<double>(sticky);
  return x < T(0) ? -value : value;
}

#define ROUND_FORMS(type, T, FTZ, SAT, suffix)                                                               \
  UNARY("cvt" suffix "." type "." type, T, T, kNone, (finish<FTZ, SAT, T>(flush<FTZ>(x)))),                  \
      UNARY("cvt.rni" suffix "." type "." type, T, T, kNone, (finish<FTZ, SAT, T>(nearest(flush<FTZ>(x))))), \
      UNARY("cvt.rzi" suffix "." type "." type, T, T, kNone, (finish<FTZ, SAT, T>(chop(flush<FTZ>(x))))),    \
      UNARY("cvt.rmi" suffix "." type "." type, T, T, kNone, (finish<FTZ, SAT, T>(down(flush<FTZ>(x))))),    \
      UNARY("cvt.rpi" suffix "." type "." type, T, T, kNone, (finish<FTZ, SAT, T>(up(flush<FTZ>(x)))))

#define NARROWING(type, narrow, widen)                                                                      \
  UNARY("cvt." type ".f32", u16, float, kNone, narrow(static_cast<double>(x))),                             \
      UNARY("cvt.ftz." type ".f32", u16, float, kNone, narrow(static_cast<double>(flush<true>(x)))),        \
      UNARY("cvt.sat." type ".f32", u16, float, kNone, narrow(static_cast<double>(saturate<true>(x)))),     \
      UNARY("cvt.relu." type ".f32", u16, float, kNone, narrow(static_cast<double>(x <= 0.0f ? 0.0f : x))), \
      UNARY("cvt.rz." type ".f32", u16, float, kNone,                                                       \
            narrow_toward_zero(static_cast<double>(x), widen, narrow)),                                     \
      UNARY("cvt." type ".f64", u16, double, kNone, narrow(x)),                                             \
      UNARY("cvt.f32." type, float, u16, kNone, canonical(widen(x))),                                       \
      UNARY("cvt.ftz.f32." type, float, u16, kNone, canonical(widen(x))),                                   \
      UNARY("cvt.f64." type, double, u16, kNone, canonical(static_cast<double>(widen(x)))),                 \
      UNARY("cvt." type "." type, u16, u16, kNone, x),                                                      \
      UNARY("cvt.rni." type "." type, u16, u16, kNone, narrow(static_cast<double>(nearest(widen(x))))),     \
      UNARY("cvt.rzi." type "." type, u16, u16, kNone, narrow(static_cast<double>(chop(widen(x))))),        \
      UNARY("cvt.rmi." type "." type, u16, u16, kNone, narrow(static_cast<double>(down(widen(x))))),        \
      UNARY("cvt.rpi." type "." type, u16, u16, kNone, narrow(static_cast<double>(up(widen(x))))),          \
      BINARY("cvt." type "x2.f32", u32, float, float, kNone,                                                \
             u32{narrow(static_cast<double>(y))} | u32{narrow(static_cast<double>(x))} << 16),              \
      BINARY("cvt.relu." type "x2.f32", u32, float, float, kNone,                                           \
             u32{narrow(static_cast<double>(y <= 0.0f ? 0.0f : y))} |                                       \
                 u32{narrow(static_cast<double>(x <= 0.0f ? 0.0f : x))} << 16)

constexpr Row kRows[] = {
    FROM_ALL("u8", u8),
    FROM_ALL("s8", s8),
    FROM_ALL("u16", u16),
    FROM_ALL("s16", s16),
    FROM_ALL("u32", u32),
    FROM_ALL("s32", s32),
    FROM_ALL("u64", u64),
    FROM_ALL("s64", s64),
    FLOATS_TO("u8", u8),
    FLOATS_TO("s8", s8),
    FLOATS_TO("u16", u16),
    FLOATS_TO("s16", s16),
    FLOATS_TO("u32", u32),
    FLOATS_TO("s32", s32),
    FLOATS_TO("u64", u64),
    FLOATS_TO("s64", s64),
    FLUSHED_TO("u8", u8),
    FLUSHED_TO("s8", s8),
    FLUSHED_TO("u16", u16),
    FLUSHED_TO("s16", s16),
    FLUSHED_TO("u32", u32),
    FLUSHED_TO("s32", s32),
    FLUSHED_TO("u64", u64),
    FLUSHED_TO("s64", s64),
    TO_FLOATS("u8", u8),
    TO_FLOATS("s8", s8),
    TO_FLOATS("u16", u16),
    TO_FLOATS("s16", s16),
    TO_FLOATS("u32", u32),
    TO_FLOATS("s32", s32),
    TO_FLOATS("u64", u64),
    TO_FLOATS("s64", s64),
    TO_F16("u16", u16),
    TO_F16("s16", s16),
    TO_F16("u32", u32),
    TO_F16("s32", s32),
    TO_F16("u64", u64),
    TO_F16("s64", s64),
    UNARY("cvt.rm.f16.f32", u16, float, kNone, narrow_down(static_cast<double>(x), widen_f16, narrow_f16)),
    UNARY("cvt.rp.f16.f32", u16, float, kNone, narrow_up(static_cast<double>(x), widen_f16, narrow_f16)),
    ROUND_FORMS("f32", float, false, false, ""),
    ROUND_FORMS("f32", float, true, false, ".ftz"),
    ROUND_FORMS("f32", float, false, true, ".sat"),
    ROUND_FORMS("f32", float, true, true, ".ftz.sat"),
    ROUND_FORMS("f64", double, false, false, ""),
    ROUND_FORMS("f64", double, false, true, ".sat"),
    UNARY("cvt.f64.f32", double, float, kNone, canonical(static_cast<double>(x))),
    UNARY("cvt.ftz.f64.f32", double, float, kNone, canonical(static_cast<double>(flush<true>(x)))),
    UNARY("cvt.f32.f64", float, double, kNone, canonical(static_cast<float>(x))),
    UNARY("cvt.ftz.f32.f64", float, double, kNone, (finish<true, false, float>(static_cast<float>(x)))),
    UNARY("cvt.sat.f32.f64", float, double, kNone, (finish<false, true, float>(static_cast<float>(x)))),
    UNARY("cvt.ftz.sat.f32.f64", float, double, kNone, (finish<true, true, float>(static_cast<float>(x)))),
    NARROWING("f16", narrow_f16, widen_f16),
    NARROWING("bf16", narrow_bf16, widen_bf16),
    UNARY("cvt.rna.tf32.f32", u32, float, kNone,
          x != x                                           ? 0x7fffffffu
          : (bits_as<u32>(x) & 0x7f800000u) == 0x7f800000u ? bits_as<u32>(x)
                                                           : (bits_as<u32>(x) + 0x1000u) & ~0x1fffu),
};

}  // namespace

Table<Row> convert_rows() { return table_of(kRows); }

}  // namespace softgpu::engine::SOFTGPU_LEVEL
