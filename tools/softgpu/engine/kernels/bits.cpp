// Moves, logic, shifts and bit manipulation.
#include "tools/softgpu/engine/kernels/map.hpp"

namespace softgpu::engine::SOFTGPU_LEVEL {
namespace {

template <class T>
inline T shift_left(T x, u32 by) {
  return by >= sizeof(T) * 8 ? T{0} : static_cast<T>(x << by);
}
template <class T>
inline T shift_right(T x, u32 by) {
  constexpr u32 kBits = sizeof(T) * 8;
  if constexpr (T(-1) < T(0)) return static_cast<T>(x >> (by >= kBits ? kBits - 1 : by));
  return by >= kBits ? T{0} : static_cast<T>(x >> by);
}
template <class T>
inline T reverse(T x) {
  T result = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; ++i) result = static_cast<T>((result << 1) | ((x >> i) & 1));
  return result;
}
inline u32 leading_zeros(u32 x) { return x == 0 ? 32 : static_cast<u32>(__builtin_clz(x)); }
inline u32 leading_zeros(u64 x) { return x == 0 ? 64 : static_cast<u32>(__builtin_clzll(x)); }
inline u32 ones(u32 x) {
  x = x - ((x >> 1) & 0x55555555u);
  x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
  return (((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24;
}
// bfind: the position of the most significant bit that differs from the sign (unsigned: that is set).
template <class U>
inline u32 find_bit(U x) {
  return x == 0 ? 0xffffffffu : static_cast<u32>(sizeof(U) * 8 - 1) - leading_zeros(x);
}
template <class U>
inline u32 find_shift(U x) {
  return x == 0 ? 0xffffffffu : leading_zeros(x);
}
template <class S, class U>
inline U unsign(S x) {
  return static_cast<U>(x < 0 ? ~x : x);
}
// bfe; the packed control is position | length << 8.
template <class T>
inline T extract(T x, u32 control) {
  constexpr u32 kBits = sizeof(T) * 8;
  const u32 position = control & 0xff, length = (control >> 8) & 0xff;
  if (length == 0) return 0;
  if constexpr (T(-1) < T(0)) {
    const u32 last = position + length - 1 >= kBits ? kBits - 1 : position + length - 1;
    const T up = shift_left<T>(x, kBits - 1 - last);
    return shift_right<T>(up, position > last ? kBits - 1 : kBits - 1 - last + position);
  } else {
    const T shifted = shift_right<T>(x, position);
    return length >= kBits ? shifted : static_cast<T>(shifted & ((T{1} << length) - 1));
  }
}
// bfi: x into y.
template <class T>
inline T insert(T x, T y, u32 control) {
  constexpr u32 kBits = sizeof(T) * 8;
  const u32 position = control & 0xff, length = (control >> 8) & 0xff;
  const T ones = length >= kBits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
  const T mask = shift_left<T>(ones, position);
  return static_cast<T>((y & ~mask) | (shift_left<T>(x, position) & mask));
}
inline u32 mask_of(u32 position, u32 length, bool wrap) {
  if (wrap) {
    position &= 31;
    length &= 31;
  }
  const u32 ones = length >= 32 ? ~0u : (1u << length) - 1;
  return shift_left<u32>(ones, position);
}
inline u32 permute(u32 x, u32 y, u32 selector) {
  const u64 pool = x | u64{y} << 32;
  u32 result = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 nibble = (selector >> (4 * i)) & 15;
    u32 byte = static_cast<u32>(pool >> (8 * (nibble & 7))) & 0xff;
    if ((nibble & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}
inline u32 funnel_left(u32 low, u32 high, u32 by) {
  return static_cast<u32>(((u64{high} << 32 | low) << by) >> 32);
}
inline u32 funnel_right(u32 low, u32 high, u32 by) { return static_cast<u32>((u64{high} << 32 | low) >> by); }
inline u32 clamp32(u32 by) { return by > 32 ? 32 : by; }

#define LOGIC(N, U)                                                                    \
  UNARY("mov." N, U, U, kMove, x), BINARY("and." N, U, U, U, kNone, x& y),             \
      BINARY("or." N, U, U, U, kNone, x | y), BINARY("xor." N, U, U, U, kNone, x ^ y), \
      UNARY("not." N, U, U, kNone, ~x), UNARY("cnot." N, U, U, kNone, x == 0),         \
      BINARY("shl." N, U, U, u32, kShiftLeft, shift_left<U>(x, y)),                    \
      BINARY("shr." N, U, U, u32, kNone, shift_right<U>(x, y))

constexpr Row kRows[] = {
    LOGIC("b16", u16),
    LOGIC("b32", u32),
    LOGIC("b64", u64),
    BINARY("shr.u16", u16, u16, u32, kNone, shift_right<u16>(x, y)),
    BINARY("shr.u32", u32, u32, u32, kNone, shift_right<u32>(x, y)),
    BINARY("shr.u64", u64, u64, u32, kNone, shift_right<u64>(x, y)),
    BINARY("shr.s16", s16, s16, u32, kNone, shift_right<s16>(x, y)),
    BINARY("shr.s32", s32, s32, u32, kNone, shift_right<s32>(x, y)),
    BINARY("shr.s64", s64, s64, u32, kNone, shift_right<s64>(x, y)),
    UNARY("brev.b32", u32, u32, kNone, reverse(x)),
    UNARY("brev.b64", u64, u64, kNone, reverse(x)),
    UNARY("clz.b32", u32, u32, kNone, leading_zeros(x)),
    UNARY("clz.b64", u32, u64, kNone, leading_zeros(x)),
    UNARY("popc.b32", u32, u32, kNone, ones(x)),
    UNARY("popc.b64", u32, u64, kNone, ones(static_cast<u32>(x)) + ones(static_cast<u32>(x >> 32))),
    UNARY("bfind.u32", u32, u32, kNone, find_bit(x)),
    UNARY("bfind.u64", u32, u64, kNone, find_bit(x)),
    UNARY("bfind.s32", u32, s32, kNone, find_bit(unsign<s32, u32>(x))),
    UNARY("bfind.s64", u32, s64, kNone, find_bit(unsign<s64, u64>(x))),
    UNARY("bfind.shiftamt.u32", u32, u32, kNone, find_shift(x)),
    UNARY("bfind.shiftamt.u64", u32, u64, kNone, find_shift(x)),
    UNARY("bfind.shiftamt.s32", u32, s32, kNone, find_shift(unsign<s32, u32>(x))),
    UNARY("bfind.shiftamt.s64", u32, s64, kNone, find_shift(unsign<s64, u64>(x))),
    // Four-operand instructions: the decoder packs position and length into one control word first.
    BINARY("control", u32, u32, u32, kNone, (x & 0xff) | (y & 0xff) << 8),
    BINARY("bfe.u32", u32, u32, u32, kNone, extract<u32>(x, y)),
    BINARY("bfe.s32", s32, s32, u32, kNone, extract<s32>(x, y)),
    BINARY("bfe.u64", u64, u64, u32, kNone, extract<u64>(x, y)),
    BINARY("bfe.s64", s64, s64, u32, kNone, extract<s64>(x, y)),
    TERNARY("bfi.b32", u32, u32, u32, u32, kNone, insert<u32>(x, y, z)),
    TERNARY("bfi.b64", u64, u64, u64, u32, kNone, insert<u64>(x, y, z)),
    BINARY("bmsk.clamp.b32", u32, u32, u32, kNone, mask_of(x, y, false)),
    BINARY("bmsk.wrap.b32", u32, u32, u32, kNone, mask_of(x, y, true)),
    TERNARY("prmt.b32", u32, u32, u32, u32, kNone, permute(x, y, z)),
    TERNARY("shf.l.wrap.b32", u32, u32, u32, u32, kNone, funnel_left(x, y, z & 31)),
    TERNARY("shf.r.wrap.b32", u32, u32, u32, u32, kNone, funnel_right(x, y, z & 31)),
    TERNARY("shf.l.clamp.b32", u32, u32, u32, u32, kNone, funnel_left(x, y, clamp32(z))),
    TERNARY("shf.r.clamp.b32", u32, u32, u32, u32, kNone, funnel_right(x, y, clamp32(z))),
    // Changes of width.
    UNARY("zero.b32.b16", u32, u16, kWidenUnsigned, x),
    UNARY("zero.b64.b16", u64, u16, kWidenUnsigned, x),
    UNARY("zero.b64.b32", u64, u32, kWidenUnsigned, x),
    UNARY("sign.b32.b16", s32, s16, kWidenSigned, x),
    UNARY("sign.b64.b16", s64, s16, kWidenSigned, x),
    UNARY("sign.b64.b32", s64, s32, kWidenSigned, x),
    UNARY("low.b16.b32", u16, u32, kTruncate, x),
    UNARY("low.b16.b64", u16, u64, kTruncate, x),
    UNARY("low.b32.b64", u32, u64, kTruncate, x),
    // Packing and unpacking of mov's vectors.
    BINARY("pack.b32.b16", u32, u16, u16, kNone, x | u32{y} << 16),
    BINARY("pack.b64.b32", u64, u32, u32, kNone, x | u64{y} << 32),
    UNARY("high.b16.b32", u16, u32, kNone, x >> 16),
    UNARY("high.b32.b64", u32, u64, kNone, x >> 32),
    BINARY("pack.b16.b8", u16, u16, u16, kNone, (x & 0xff) | y << 8),
    UNARY("byte.b16", u16, u16, kNone, x & 0xff),
    UNARY("high.b8.b16", u16, u16, kNone, x >> 8),
};

}  // namespace

Table<Row> bit_rows() { return table_of(kRows); }

}  // namespace softgpu::engine::SOFTGPU_LEVEL
