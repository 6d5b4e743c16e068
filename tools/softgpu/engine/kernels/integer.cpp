// Integer arithmetic: add, sub, mul, mad, div, rem, min, max, abs, neg, and the carries.
#include "tools/softgpu/engine/kernels/map.hpp"

namespace softgpu::engine::SOFTGPU_LEVEL {
namespace {

template <class T>
inline T divide(T x, T y) {
  if (y == 0) return static_cast<T>(~T{0});
  if constexpr (T(-1) < T(0)) {
    if (y == T(-1)) return static_cast<T>(0 - static_cast<u64>(x));
  }
  return static_cast<T>(x / y);
}
template <class T>
inline T remainder(T x, T y) {
  if (y == 0) return static_cast<T>(~T{0});
  if constexpr (T(-1) < T(0)) {
    if (y == T(-1)) return 0;
  }
  return static_cast<T>(x % y);
}
inline s32 add_saturated(s32 x, s32 y) {
  const s64 sum = s64{x} + y;
  return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : static_cast<s32>(sum);
}
inline s32 subtract_saturated(s32 x, s32 y) {
  const s64 sum = s64{x} - y;
  return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : static_cast<s32>(sum);
}
template <class T>
inline T absolute(T x) {
  return x < 0 ? static_cast<T>(0 - static_cast<u64>(x)) : x;
}

// What is the same for signed and unsigned: N is the name's sign letter, U the unsigned type of that width.
#define MODULAR(N, U)                                                                  \
  BINARY("add." N, U, U, U, kAdd, x + y), BINARY("sub." N, U, U, U, kSubtract, x - y), \
      BINARY("mul." N, U, U, U, kMultiply, u64{x} * y),                                \
      TERNARY("mad." N, U, U, U, U, kMultiplyAdd, u64{x} * y + z)
#define ORDERED(N, T)                                                                               \
  BINARY("min." N, T, T, T, kNone, x < y ? x : y), BINARY("max." N, T, T, T, kNone, x < y ? y : x), \
      BINARY("div." N, T, T, T, kNone, divide<T>(x, y)),                                            \
      BINARY("rem." N, T, T, T, kNone, remainder<T>(x, y))
#define WIDE(N, T, W, SIGN)                                                                   \
  BINARY("mul.wide." N, W, T, T, kMultiplyWide##SIGN, static_cast<W>(x) * static_cast<W>(y)), \
      TERNARY("mad.wide." N, W, T, T, W, kMultiplyAddWide##SIGN,                              \
              static_cast<u64>(static_cast<W>(x) * static_cast<W>(y)) + static_cast<u64>(z))
#define HIGH(N, T, W, SHIFT)                                                             \
  BINARY("mul.hi." N, T, T, T, kNone, (static_cast<W>(x) * static_cast<W>(y)) >> SHIFT), \
      TERNARY("mad.hi." N, T, T, T, T, kNone,                                            \
              static_cast<u64>((static_cast<W>(x) * static_cast<W>(y)) >> SHIFT) + static_cast<u64>(z))

constexpr Row kRows[] = {
    MODULAR("u16", u16),
    MODULAR("s16", u16),
    MODULAR("u32", u32),
    MODULAR("s32", u32),
    MODULAR("u64", u64),
    MODULAR("s64", u64),
    ORDERED("u16", u16),
    ORDERED("s16", s16),
    ORDERED("u32", u32),
    ORDERED("s32", s32),
    ORDERED("u64", u64),
    ORDERED("s64", s64),
    WIDE("u16", u16, u32, Unsigned),
    WIDE("s16", s16, s32, Signed),
    WIDE("u32", u32, u64, Unsigned),
    WIDE("s32", s32, s64, Signed),
    HIGH("u16", u16, u32, 16),
    HIGH("s16", s16, s32, 16),
    HIGH("u32", u32, u64, 32),
    HIGH("s32", s32, s64, 32),
    HIGH("u64", u64, u128, 64),
    HIGH("s64", s64, s128, 64),
    BINARY("add.sat.s32", s32, s32, s32, kNone, add_saturated(x, y)),
    BINARY("sub.sat.s32", s32, s32, s32, kNone, subtract_saturated(x, y)),
    BINARY("mul24.u32", u32, u32, u32, kNone, (x & 0xffffffu) * (y & 0xffffffu)),
    BINARY("mul24.s32", u32, u32, u32, kNone,
           static_cast<u32>((static_cast<s32>(x << 8) >> 8) * (static_cast<s32>(y << 8) >> 8))),
    UNARY("abs.s16", s16, s16, kNone, absolute(x)),
    UNARY("abs.s32", s32, s32, kNone, absolute(x)),
    UNARY("abs.s64", s64, s64, kNone, absolute(x)),
    UNARY("neg.s16", u16, u16, kNegate, 0u - x),
    UNARY("neg.s32", u32, u32, kNegate, 0u - x),
    UNARY("neg.s64", u64, u64, kNegate, u64{0} - x),
    TERNARY("sad.u32", u32, u32, u32, u32, kNone, z + (x < y ? y - x : x - y)),
    TERNARY(
        "sad.s32", u32, s32, s32, u32, kNone,
        z + (x < y ? static_cast<u32>(y) - static_cast<u32>(x) : static_cast<u32>(x) - static_cast<u32>(y))),
    // The condition code is a 32-bit register of zeros and ones: sum and carry are two instructions.
    TERNARY("sum.u32", u32, u32, u32, u32, kNone, x + y + z),
    TERNARY("carry.u32", u32, u32, u32, u32, kNone, (u64{x} + y + z) >> 32),
    TERNARY("difference.u32", u32, u32, u32, u32, kNone, x - y - z),
    TERNARY("borrow.u32", u32, u32, u32, u32, kNone, ((u64{x} - y - z) >> 32) & 1),
    TERNARY("sum.u64", u64, u64, u64, u32, kNone, x + y + z),
    TERNARY("carry.u64", u32, u64, u64, u32, kNone, static_cast<u64>((u128{x} + y + z) >> 64)),
    TERNARY("difference.u64", u64, u64, u64, u32, kNone, x - y - z),
    TERNARY("borrow.u64", u32, u64, u64, u32, kNone, static_cast<u64>((u128{x} - y - z) >> 64) & 1),
    TERNARY("dp4a.s32.s32", s32, s32, s32, s32, kNone,
            static_cast<u32>(z) + static_cast<u32>(s8(x) * s8(y) + s8(x >> 8) * s8(y >> 8) +
                                                   s8(x >> 16) * s8(y >> 16) + s8(x >> 24) * s8(y >> 24))),
    TERNARY(
        "dp4a.u32.u32", u32, u32, u32, u32, kNone,
        z + u8(x) * u8(y) + u8(x >> 8) * u8(y >> 8) + u8(x >> 16) * u8(y >> 16) + u8(x >> 24) * u8(y >> 24)),
};

}  // namespace

Table<Row> integer_rows() { return table_of(kRows); }

}  // namespace softgpu::engine::SOFTGPU_LEVEL
