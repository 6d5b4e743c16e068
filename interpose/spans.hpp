// The bytes that copies and memsets touch: a 2-D or 3-D operation as the one range from its first byte to its
// last. Called by the copy and memset doors. Thread rule: pure. Failure rule: an empty operation, or one
// whose range passes the end of the address space, touches nothing here; the driver decides about it.
#pragma once

#include <cuda.h>

#include <cstddef>

#include "interpose/shape.hpp"
#include "src/runtime/runtime.hpp"

namespace tencache::doors {

// What lies in linear memory of one side of a shaped copy. `address` is 0 for an array or a host side.
struct Side {
  CUdeviceptr address;  // of the first byte
  runtime::Range range;
  bool dense;  // no byte inside the range is left out
};

// Rows `pitch` apart, slices `pitch` x `rows_per_slice` apart.
Side span_of(CUdeviceptr address, std::size_t pitch, std::size_t rows_per_slice, const Box& box) noexcept;

struct ShapedCopy {
  Side destination;
  Side source;
};

ShapedCopy spans_of(const CUDA_MEMCPY2D& copy) noexcept;
ShapedCopy spans_of(const CUDA_MEMCPY3D& copy) noexcept;
ShapedCopy spans_of(const CUDA_MEMCPY3D_PEER& copy) noexcept;

// The range if it begins in the arena, else the empty one.
runtime::Range if_ours(const runtime::Arena& arena, const runtime::Range& range) noexcept;

}  // namespace tencache::doors
