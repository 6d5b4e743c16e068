// Comparisons: a bit a lane. The rest of setp (its combination with a predicate) is the handler's.
#include "tools/softgpu/engine/kernels/narrow.hpp"

#include <emmintrin.h>

namespace softgpu::engine::SOFTGPU_LEVEL {
namespace {

template <class T, class F>
inline void compare_map(u16* mask, const void* a, const void* b, int halves, F f) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  alignas(16) u8 yes[kLanes];
  const int n = halves * kHalfLanes;
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) yes[i] = f(x[i], y[i]) ? 0xff : 0;
  for (int h = 0; h < halves; ++h) {
    mask[h] = static_cast<u16>(
        _mm_movemask_epi8(_mm_load_si128(reinterpret_cast<const __m128i*>(yes + h * kHalfLanes))));
  }
}

#define COMPARE(key, T, expression)                                                        \
  {                                                                                        \
    key,                                                                                   \
        [](u16* mask, const void* a, const void* b, int halves) {                          \
          compare_map<T>(mask, a, b, halves, [](T x, T y) -> bool { return expression; }); \
        },                                                                                 \
        bytes<T>                                                                           \
  }
#define EQUALITY(N, T) COMPARE("eq." N, T, x == y), COMPARE("ne." N, T, x != y)
#define ORDER(N, T)                                                                                    \
  EQUALITY(N, T), COMPARE("lt." N, T, x < y), COMPARE("le." N, T, x <= y), COMPARE("gt." N, T, x > y), \
      COMPARE("ge." N, T, x >= y)
#define UNSIGNED_ORDER(N, T)                                                           \
  COMPARE("lo." N, T, x < y), COMPARE("ls." N, T, x <= y), COMPARE("hi." N, T, x > y), \
      COMPARE("hs." N, T, x >= y)
// P and Q are the values compared, made of x and y.
#define FLOAT_ORDER(N, T, P, Q)                                                                         \
  COMPARE("eq." N, T, P == Q), COMPARE("ne." N, T, (P < Q) | (P > Q)), COMPARE("lt." N, T, P < Q),      \
      COMPARE("le." N, T, P <= Q), COMPARE("gt." N, T, P > Q), COMPARE("ge." N, T, P >= Q),             \
      COMPARE("equ." N, T, !((P < Q) | (P > Q))), COMPARE("neu." N, T, !(P == Q)),                      \
      COMPARE("ltu." N, T, !(P >= Q)), COMPARE("leu." N, T, !(P > Q)), COMPARE("gtu." N, T, !(P <= Q)), \
      COMPARE("geu." N, T, !(P < Q)), COMPARE("num." N, T, (P == P) & (Q == Q)),                        \
      COMPARE("nan." N, T, (P != P) | (Q != Q))

inline float widen_flushed_f16(u16 half) {
  return widen_f16((half & 0x7c00) == 0 ? static_cast<u16>(half & 0x8000) : half);
}

constexpr CompareRow kRows[] = {
    EQUALITY("b16", u16),
    EQUALITY("b32", u32),
    EQUALITY("b64", u64),
    ORDER("u16", u16),
    ORDER("s16", s16),
    ORDER("u32", u32),
    ORDER("s32", s32),
    ORDER("u64", u64),
    ORDER("s64", s64),
    UNSIGNED_ORDER("u16", u16),
    UNSIGNED_ORDER("u32", u32),
    UNSIGNED_ORDER("u64", u64),
    FLOAT_ORDER("f32", float, x, y),
    FLOAT_ORDER("f64", double, x, y),
    FLOAT_ORDER("ftz.f32", float, flush<true>(x), flush<true>(y)),
    FLOAT_ORDER("f16", u16, widen_f16(x), widen_f16(y)),
    FLOAT_ORDER("ftz.f16", u16, widen_flushed_f16(x), widen_flushed_f16(y)),
    FLOAT_ORDER("bf16", u16, widen_bf16(x), widen_bf16(y)),
};

}  // namespace

Table<CompareRow> compare_rows() { return table_of(kRows); }

}  // namespace softgpu::engine::SOFTGPU_LEVEL
