// Gathers one CPU level's tables, with the loops that move lanes.
#include "tools/softgpu/engine/kernels/map.hpp"

namespace softgpu::engine {
namespace SOFTGPU_LEVEL {
namespace {

template <class T>
void expand(void* v, const void* base, s64 stride, int halves) {
  T* to = static_cast<T*>(v);
  const T* from = static_cast<const T*>(base);
  T steps[kHalfLanes];
  for (int i = 0; i < kHalfLanes; ++i)
    steps[i] = static_cast<T>(static_cast<u64>(stride) * static_cast<u64>(i));
  for (int h = 0; h < halves; ++h) {
    const T first = from[h];
#pragma GCC ivdep
    for (int i = 0; i < kHalfLanes; ++i) to[h * kHalfLanes + i] = static_cast<T>(first + steps[i]);
  }
}
template <class T>
void blend(void* d, const void* s, const u16* mask, int halves) {
  T* to = static_cast<T*>(d);
  const T* from = static_cast<const T*>(s);
  for (int h = 0; h < halves; ++h) {
    const u32 bits = mask[h];
    if (bits == 0) continue;
#pragma GCC ivdep
    for (int i = 0; i < kHalfLanes; ++i) {
      const int at = h * kHalfLanes + i;
      to[at] = (bits >> i & 1) != 0 ? from[at] : to[at];
    }
  }
}

template <class T>
Spread spread_of(const void* bases, int first, int last) {
  const T* base = static_cast<const T*>(bases);
  T least = static_cast<T>(~T{0}), greatest = 0, bits = 0;
  for (int h = first; h < last; ++h) {
    least = base[h] < least ? base[h] : least;
    greatest = base[h] > greatest ? base[h] : greatest;
    bits |= base[h];
  }
  return {least, greatest, bits};
}
Spread spread(const void* bases, int width, int first, int last) {
  const bool all = first == 0 && last == kHalves;
  if (width == 4) return all ? spread_of<u32>(bases, 0, kHalves) : spread_of<u32>(bases, first, last);
  return all ? spread_of<u64>(bases, 0, kHalves) : spread_of<u64>(bases, first, last);
}

}  // namespace
}  // namespace SOFTGPU_LEVEL

#define NAME_OF(level) #level
#define KERNELS_OF(level, function)                                                   \
  const Kernels& function() {                                                         \
    using namespace level;                                                            \
    static const Kernels kernels{NAME_OF(level),                                      \
                                 integer_rows(),                                      \
                                 bit_rows(),                                          \
                                 floating_rows(),                                     \
                                 directed_rows(),                                     \
                                 half_rows(),                                         \
                                 convert_rows(),                                      \
                                 approximate_rows(),                                  \
                                 compare_rows(),                                      \
                                 {expand<u8>, expand<u16>, expand<u32>, expand<u64>}, \
                                 {blend<u8>, blend<u16>, blend<u32>, blend<u64>},     \
                                 load_mover,                                          \
                                 store_mover,                                         \
                                 spread};                                             \
    return kernels;                                                                   \
  }
#define KERNELS(level, function) KERNELS_OF(level, function)
KERNELS(SOFTGPU_LEVEL, SOFTGPU_LEVEL_FUNCTION)

}  // namespace softgpu::engine
