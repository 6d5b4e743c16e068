// The form of a copy or memset: a box of bytes whose rows and slices lie apart in memory, and what one call
// can do of it. Called by the copy and memset doors. Thread rule: pure. Failure rule: a form whose size no
// number holds has no parts.
#pragma once

#include <cuda.h>

#include <cstddef>

#include "src/runtime/runtime.hpp"

namespace tencache::doors {

struct Box {
  std::size_t width;  // bytes
  std::size_t height;
  std::size_t depth;
};

// A byte of a box.
struct Corner {
  std::size_t x, y, z;
};

// Rows `pitch` apart, slices `pitch` x `rows_per_slice` apart.
struct Layout {
  std::size_t pitch;
  std::size_t rows_per_slice;
};

struct Shape {
  Box box;
  Layout destination;
  Layout source;

  // Whether its bytes can be counted.
  [[nodiscard]] bool divisible() const noexcept;
  // The byte `offset` of it, counted row by row.
  [[nodiscard]] Corner corner_at(std::uint64_t offset) const noexcept;
  // See runtime::PartIssuer.
  [[nodiscard]] runtime::Rows rows_at(std::uint64_t offset) const noexcept;
};

Shape shape_of(const CUDA_MEMCPY2D& copy) noexcept;
Shape shape_of(const CUDA_MEMCPY3D& copy) noexcept;
Shape shape_of(const CUDA_MEMCPY3D_PEER& copy) noexcept;

// Where a part of a copy lies: its first byte in the copy's box, and device addresses of that byte in place
// of the program's (0: the program's own).
struct PartPlace {
  Corner corner;
  CUdeviceptr destination;
  CUdeviceptr source;
};

// The copy of these rows alone.
CUDA_MEMCPY2D part_of(const CUDA_MEMCPY2D& copy, const runtime::Rows& rows, const PartPlace& place) noexcept;
CUDA_MEMCPY3D part_of(const CUDA_MEMCPY3D& copy, const runtime::Rows& rows, const PartPlace& place) noexcept;
CUDA_MEMCPY3D_PEER part_of(const CUDA_MEMCPY3D_PEER& copy, const runtime::Rows& rows,
                           const PartPlace& place) noexcept;

}  // namespace tencache::doors
