// Gathers one CPU level's tables, with the loops that move lanes.
#include "tools/softgpu/engine/kernels/map.hpp"

namespace softgpu::engine {
namespace SOFTGPU_LEVEL {
namespace {

// A half's elements as vectors of at most 64 bytes.
template <class T>
struct HalfVectors {
  static constexpr int kBytes = sizeof(T) * kHalfLanes < 64 ? sizeof(T) * kHalfLanes : 64;
  static constexpr int kLanesEach = kBytes / static_cast<int>(sizeof(T)), kCount = kHalfLanes / kLanesEach;
  typedef T Vector __attribute__((vector_size(kBytes), may_alias));  // NOLINT(modernize-use-using)
};

template <class T>
void expand(void* v, const void* base, s64 stride, int halves) {
  using H = HalfVectors<T>;
  using Vector = typename H::Vector;
  auto* to = static_cast<Vector*>(v);
  const T* from = static_cast<const T*>(base);
  Vector steps[H::kCount];
  for (int i = 0; i < kHalfLanes; ++i) {
    steps[i / H::kLanesEach][i % H::kLanesEach] =
        static_cast<T>(static_cast<u64>(stride) * static_cast<u64>(i));
  }
  for (int h = 0; h < halves; ++h) {
    for (int part = 0; part < H::kCount; ++part) *to++ = steps[part] + from[h];
  }
}
template <class T>
void blend(void* d, const void* s, const u16* mask, int halves) {
  using H = HalfVectors<T>;
  using Vector = typename H::Vector;
  auto* to = static_cast<Vector*>(d);
  const auto* from = static_cast<const Vector*>(s);
  Vector bit[H::kCount];
  for (int i = 0; i < kHalfLanes; ++i)
    bit[i / H::kLanesEach][i % H::kLanesEach] = static_cast<T>(T{1} << i % H::kLanesEach);
  for (int h = 0; h < halves; ++h) {
    for (int part = 0; part < H::kCount; ++part, ++to, ++from) {
      const T bits = static_cast<T>(mask[h] >> (H::kLanesEach * part));
      const Vector test = Vector{} + bits;
      *to = (test & bit[part]) != 0 ? *from : *to;
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
#define KERNELS_OF(level, function)                                                \
  const Kernels& function() {                                                      \
    using namespace level;                                                         \
    static const Kernels kernels{NAME_OF(level),                                   \
                                 integer_rows(),                                   \
                                 bit_rows(),                                       \
                                 floating_rows(),                                  \
                                 directed_rows(),                                  \
                                 half_rows(),                                      \
                                 convert_rows(),                                   \
                                 approximate_rows(),                               \
                                 compare_rows(),                                   \
                                 {nullptr, expand<u16>, expand<u32>, expand<u64>}, \
                                 {nullptr, blend<u16>, blend<u32>, blend<u64>},    \
                                 load_mover,                                       \
                                 store_mover,                                      \
                                 spread};                                          \
    return kernels;                                                                \
  }
#define KERNELS(level, function) KERNELS_OF(level, function)
KERNELS(SOFTGPU_LEVEL, SOFTGPU_LEVEL_FUNCTION)

}  // namespace softgpu::engine
