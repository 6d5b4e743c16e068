// fp32 and fp64 arithmetic rounded toward zero, minus and plus infinity: the plain operations under another
// rounding mode. The loops are not inlined, so that no operation moves across the change of mode.
#include <immintrin.h>

#include "tools/softgpu/engine/kernels/real.hpp"

namespace softgpu::engine::SOFTGPU_LEVEL {
namespace {

template <unsigned Mode>
inline void rounded(Eval eval, void* d, const void* a, const void* b, const void* c, int halves) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr((before & ~0x6000u) | Mode);
  asm volatile("" ::: "memory");
  eval(d, a, b, c, halves);
  asm volatile("" ::: "memory");
  _mm_setcsr(before);
}

#define OPERATION(name, call)                                                                               \
  template <class T, bool Ftz>                                                                              \
  [[gnu::noinline]] void name([[maybe_unused]] void* d, [[maybe_unused]] const void* a,                     \
                              [[maybe_unused]] const void* b, [[maybe_unused]] const void* c, int halves) { \
    call;                                                                                                   \
  }
OPERATION(add, (map2<T, T, T>(d, a, b, halves,
                              [](T x, T y) { return finish<Ftz, false>(flush<Ftz>(x) + flush<Ftz>(y)); })))
OPERATION(sub, (map2<T, T, T>(d, a, b, halves,
                              [](T x, T y) { return finish<Ftz, false>(flush<Ftz>(x) - flush<Ftz>(y)); })))
OPERATION(mul, (map2<T, T, T>(d, a, b, halves,
                              [](T x, T y) { return finish<Ftz, false>(flush<Ftz>(x) * flush<Ftz>(y)); })))
OPERATION(div, (map2<T, T, T>(d, a, b, halves,
                              [](T x, T y) { return finish<Ftz, false>(flush<Ftz>(x) / flush<Ftz>(y)); })))
OPERATION(fma, (map3<T, T, T, T>(d, a, b, c, halves, [](T x, T y, T z) {
            return finish<Ftz, false>(fused(flush<Ftz>(x), flush<Ftz>(y), flush<Ftz>(z)));
          })))
OPERATION(rcp, (map1<T, T>(d, a, halves, [](T x) { return finish<Ftz, false>(T(1) / flush<Ftz>(x)); })))
OPERATION(sqrt, (map1<T, T>(d, a, halves, [](T x) { return finish<Ftz, false>(root(flush<Ftz>(x))); })))
OPERATION(narrow, (map1<float, double>(d, a, halves,
                                       [](double x) { return finish<Ftz, false>(static_cast<float>(x)); })))
template <class D, class A>
[[gnu::noinline]] void from_integer(void* d, const void* a, const void*, const void*, int halves) {
  map1<D, A>(d, a, halves, [](A x) { return static_cast<D>(x); });
}

#define MODE(key, mode, eval, D, A, B, C)                                      \
  {                                                                            \
    key,                                                                       \
        [](void* d, const void* a, const void* b, const void* c, int halves) { \
          rounded<mode>(eval, d, a, b, c, halves);                             \
        },                                                                     \
    {                                                                          \
      D, A, B, C                                                               \
    }                                                                          \
  }
#define MODES(op, suffix, eval, D, A, B, C)                                                           \
  MODE(op ".rz" suffix, 0x6000u, eval, D, A, B, C), MODE(op ".rm" suffix, 0x2000u, eval, D, A, B, C), \
      MODE(op ".rp" suffix, 0x4000u, eval, D, A, B, C)
#define REALS(op, name, has_b, has_c)                                         \
  MODES(op, ".f32", (name<float, false>), 4, 4, has_b * 4, has_c * 4),        \
      MODES(op, ".ftz.f32", (name<float, true>), 4, 4, has_b * 4, has_c * 4), \
      MODES(op, ".f64", (name<double, false>), 8, 8, has_b * 8, has_c * 8)
#define FROM(type, T)                                                                             \
  MODES("cvt", ".f32." type, (from_integer<float, T>), 4, (sizeof(T) < 2 ? 2 : sizeof(T)), 0, 0), \
      MODES("cvt", ".f64." type, (from_integer<double, T>), 8, (sizeof(T) < 2 ? 2 : sizeof(T)), 0, 0)

constexpr Row kRows[] = {
    REALS("add", add, 1, 0),
    REALS("sub", sub, 1, 0),
    REALS("mul", mul, 1, 0),
    REALS("div", div, 1, 0),
    REALS("fma", fma, 1, 1),
    REALS("mad", fma, 1, 1),
    REALS("rcp", rcp, 0, 0),
    REALS("sqrt", sqrt, 0, 0),
    MODES("cvt", ".f32.f64", (narrow<float, false>), 4, 8, 0, 0),
    MODES("cvt", ".ftz.f32.f64", (narrow<float, true>), 4, 8, 0, 0),
    FROM("s32", s32),
    FROM("u32", u32),
    FROM("s64", s64),
    FROM("u64", u64),
    FROM("s16", s16),
    FROM("u16", u16),
};

}  // namespace

Table<Row> directed_rows() { return table_of(kRows); }

}  // namespace softgpu::engine::SOFTGPU_LEVEL
