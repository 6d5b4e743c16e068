// Loops over lanes, for the files that are compiled once per CPU level. Everything here has internal linkage:
// the linker must never take one level's code for another's. Include nothing with inline functions.
#pragma once

#include <cstdint>

#include "tools/softgpu/engine/kernels/kernels.hpp"

namespace softgpu::engine {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using u128 = unsigned __int128;
using s128 = __int128;

template <class To, class From>
inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

template <class D, class A, class F>
inline void map1(void* d, const void* a, int halves, F f) {
  D* to = static_cast<D*>(d);
  const A* x = static_cast<const A*>(a);
  const int n = halves * kHalfLanes;
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) to[i] = f(x[i]);
}
template <class D, class A, class B, class F>
inline void map2(void* d, const void* a, const void* b, int halves, F f) {
  D* to = static_cast<D*>(d);
  const A* x = static_cast<const A*>(a);
  const B* y = static_cast<const B*>(b);
  const int n = halves * kHalfLanes;
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) to[i] = f(x[i], y[i]);
}
template <class D, class A, class B, class C, class F>
inline void map3(void* d, const void* a, const void* b, const void* c, int halves, F f) {
  D* to = static_cast<D*>(d);
  const A* x = static_cast<const A*>(a);
  const B* y = static_cast<const B*>(b);
  const C* z = static_cast<const C*>(c);
  const int n = halves * kHalfLanes;
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) to[i] = f(x[i], y[i], z[i]);
}

template <class T>
constexpr u8 bytes = static_cast<u8>(sizeof(T));

// Rows of the tables: key, element types, how it acts on affine registers, the expression in x, y, z.
#define UNARY(key, D, A, affine, expression)                                             \
  {                                                                                      \
    key,                                                                                 \
        [](void* d, const void* a, const void*, const void*, int halves) {               \
          map1<D, A>(d, a, halves, [](A x) -> D { return static_cast<D>(expression); }); \
        },                                                                               \
        {bytes<D>, bytes<A>, 0, 0}, Affine::affine                                       \
  }
#define BINARY(key, D, A, B, affine, expression)                                                    \
  {                                                                                                 \
    key,                                                                                            \
        [](void* d, const void* a, const void* b, const void*, int halves) {                        \
          map2<D, A, B>(d, a, b, halves, [](A x, B y) -> D { return static_cast<D>(expression); }); \
        },                                                                                          \
        {bytes<D>, bytes<A>, bytes<B>, 0}, Affine::affine                                           \
  }
#define TERNARY(key, D, A, B, C, affine, expression)                                       \
  {                                                                                        \
    key,                                                                                   \
        [](void* d, const void* a, const void* b, const void* c, int halves) {             \
          map3<D, A, B, C>(d, a, b, c, halves,                                             \
                           [](A x, B y, C z) -> D { return static_cast<D>(expression); }); \
        },                                                                                 \
        {bytes<D>, bytes<A>, bytes<B>, bytes<C>}, Affine::affine                           \
  }

template <class T, int N>
constexpr Table<T> table_of(const T (&rows)[N]) {
  return {rows, N};
}

}  // namespace

namespace SOFTGPU_LEVEL {
Table<Row> integer_rows();
Table<Row> bit_rows();
Table<Row> floating_rows();
Table<Row> directed_rows();
Table<Row> half_rows();
Table<Row> convert_rows();
Table<Row> approximate_rows();
Table<CompareRow> compare_rows();
const Mover* load_mover(int size, bool is_signed, int register_width);
const Mover* store_mover(int size, int register_width);
}  // namespace SOFTGPU_LEVEL

}  // namespace softgpu::engine
