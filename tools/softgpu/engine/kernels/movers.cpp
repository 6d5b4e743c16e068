// Moves elements between registers and host memory, whole halves at a time.
#include <cstddef>

#include "tools/softgpu/engine/kernels/map.hpp"

namespace softgpu::engine::SOFTGPU_LEVEL {
namespace {

using Bytes = std::uint8_t;

// Kernels and the CPU race for device memory as their programs have it: no business of a checker of this one.
#define RACY [[gnu::no_sanitize("thread")]]

// M is the type in memory, D the register's.
template <class M, class D>
struct Load {
  RACY static D read(const Bytes* from) {
    M value;
    __builtin_memcpy(&value, from, sizeof value);
    return static_cast<D>(value);
  }
  RACY static void one(D* lane, Bytes* at) { *lane = read(at); }
};
template <class M, class D>
struct Store {
  RACY static void one(const D* lane, Bytes* at) {
    const M value = static_cast<M>(*lane);
    __builtin_memcpy(at, &value, sizeof value);
  }
};

// Sixteen elements beside each other, read and written as they lie.
template <class T>
struct Beside {
  typedef T Part
      __attribute__((vector_size(sizeof(T) * kHalfLanes < 64 ? sizeof(T) * kHalfLanes : 64), aligned(1),
                     may_alias));  // NOLINT(modernize-use-using)
  RACY static void copy(void* to, const void* from) {
    for (unsigned k = 0; k < sizeof(T) * kHalfLanes / sizeof(Part); ++k) {
      static_cast<Part*>(to)[k] = static_cast<const Part*>(from)[k];
    }
  }
};
template <class M, class D>
RACY void move_beside(Load<M, D>, D* lanes, Bytes* at) {
  if constexpr (sizeof(M) == sizeof(D)) return Beside<D>::copy(lanes, at);
  for (int l = 0; l < kHalfLanes; ++l) Load<M, D>::one(lanes + l, at + l * static_cast<int>(sizeof(M)));
}
template <class M, class D>
RACY void move_beside(Store<M, D>, D* lanes, Bytes* at) {
  if constexpr (sizeof(M) == sizeof(D)) return Beside<D>::copy(at, lanes);
  for (int l = 0; l < kHalfLanes; ++l) Store<M, D>::one(lanes + l, at + l * static_cast<int>(sizeof(M)));
}

template <class Move, class M, class D>
RACY void strided(void* elements, Bytes* const* host, std::ptrdiff_t stride, const std::uint16_t* bits,
                  int first, int last) {
  for (int h = first; h < last; ++h) {
    D* lanes = static_cast<D*>(elements) + h * kHalfLanes;
    Bytes* at = host[h];
    if (bits[h] == 0xffff && stride == sizeof(M)) {
      move_beside(Move{}, lanes, at);
    } else {
      for (std::uint32_t left = bits[h]; left != 0; left &= left - 1) {
        const int l = __builtin_ctz(left);
        Move::one(lanes + l, at + l * stride);
      }
    }
  }
}
template <class Move, class D>
RACY void gathered(void* elements, Bytes* const* host, std::ptrdiff_t offset, const std::uint16_t* bits,
                   int first, int last) {
  for (int h = first; h < last; ++h) {
    for (std::uint32_t left = bits[h]; left != 0; left &= left - 1) {
      const int l = h * kHalfLanes + __builtin_ctz(left);
      Move::one(static_cast<D*>(elements) + l, host[l] + offset);
    }
  }
}
template <class Move, class D>
RACY void uniform(void* bases, Bytes* const* host, int first, int last) {
  for (int h = first; h < last; ++h) {
    if (host[h] != nullptr) Move::one(static_cast<D*>(bases) + h, host[h]);
  }
}
template <class Move, class M, class D>
constexpr Mover kMover{strided<Move, M, D>, gathered<Move, D>, uniform<Move, D>};
template <class M, class D>
const Mover* loads() {
  return &kMover<Load<M, D>, M, D>;
}
template <class M, class D>
const Mover* stores() {
  return &kMover<Store<M, D>, M, D>;
}
template <class M>
const Mover* loads_to(int width) {
  switch (width) {
    case 2:
      if constexpr (sizeof(M) <= 2) return loads<M, std::uint16_t>();
      return nullptr;
    case 4:
      if constexpr (sizeof(M) <= 4) return loads<M, std::uint32_t>();
      return nullptr;
    case 8:
      return loads<M, std::uint64_t>();
    default:
      return nullptr;
  }
}
template <class D>
const Mover* stores_from(int size) {
  switch (size) {
    case 1:
      return stores<std::uint8_t, D>();
    case 2:
      return stores<std::uint16_t, D>();
    case 4:
      if constexpr (sizeof(D) >= 4) return stores<std::uint32_t, D>();
      return nullptr;
    case 8:
      if constexpr (sizeof(D) >= 8) return stores<std::uint64_t, D>();
      return nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

const Mover* load_mover(int size, bool is_signed, int register_width) {
  switch (size) {
    case 1:
      return is_signed ? loads_to<std::int8_t>(register_width) : loads_to<std::uint8_t>(register_width);
    case 2:
      return is_signed ? loads_to<std::int16_t>(register_width) : loads_to<std::uint16_t>(register_width);
    case 4:
      return is_signed ? loads_to<std::int32_t>(register_width) : loads_to<std::uint32_t>(register_width);
    case 8:
      return loads_to<std::uint64_t>(register_width);
    default:
      return nullptr;
  }
}
const Mover* store_mover(int size, int register_width) {
  switch (register_width) {
    case 2:
      return stores_from<std::uint16_t>(size);
    case 4:
      return stores_from<std::uint32_t>(size);
    case 8:
      return stores_from<std::uint64_t>(size);
    default:
      return nullptr;
  }
}

}  // namespace softgpu::engine::SOFTGPU_LEVEL
