#include "interpose/spans.hpp"

namespace tencache::doors {

namespace {

bool is_linear(CUmemorytype type) { return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED; }

// True and the sum of products where nothing overflows.
bool offset_of(std::size_t pitch, std::size_t rows, std::size_t bytes, std::size_t* offset) {
  return !__builtin_mul_overflow(pitch, rows, offset) && !__builtin_add_overflow(*offset, bytes, offset);
}

Side side_of(CUmemorytype type, CUdeviceptr base, std::size_t pitch, std::size_t rows_per_slice,
             const Corner& corner, const Box& box) noexcept {
  if (!is_linear(type)) return {};
  std::size_t row = 0;
  std::size_t offset = 0;
  if (!offset_of(rows_per_slice, corner.z, corner.y, &row) || !offset_of(pitch, row, corner.x, &offset)) {
    return {};
  }
  return span_of(base + offset, pitch, rows_per_slice, box);
}

template <class Copy>
ShapedCopy spans_of_3d(const Copy& copy) noexcept {
  const Box box{copy.WidthInBytes, copy.Height, copy.Depth};
  return {side_of(copy.dstMemoryType, copy.dstDevice, copy.dstPitch, copy.dstHeight,
                  {copy.dstXInBytes, copy.dstY, copy.dstZ}, box),
          side_of(copy.srcMemoryType, copy.srcDevice, copy.srcPitch, copy.srcHeight,
                  {copy.srcXInBytes, copy.srcY, copy.srcZ}, box)};
}

}  // namespace

Side span_of(CUdeviceptr address, std::size_t pitch, std::size_t rows_per_slice, const Box& box) noexcept {
  if (box.width == 0 || box.height == 0 || box.depth == 0) return {};
  std::size_t last_row = 0;
  std::size_t size = 0;
  CUdeviceptr end = 0;
  if (!offset_of(rows_per_slice, box.depth - 1, box.height - 1, &last_row) ||
      !offset_of(pitch, last_row, box.width, &size) || __builtin_add_overflow(address, size, &end)) {
    return {};
  }
  const bool dense_rows = last_row == 0 || pitch == box.width;
  const bool dense_slices = box.depth == 1 || rows_per_slice == box.height;
  return {address, {address, Bytes(size)}, dense_rows && dense_slices};
}

ShapedCopy spans_of(const CUDA_MEMCPY2D& copy) noexcept {
  const Box box{copy.WidthInBytes, copy.Height, 1};
  return {
      side_of(copy.dstMemoryType, copy.dstDevice, copy.dstPitch, 0, {copy.dstXInBytes, copy.dstY, 0}, box),
      side_of(copy.srcMemoryType, copy.srcDevice, copy.srcPitch, 0, {copy.srcXInBytes, copy.srcY, 0}, box)};
}

ShapedCopy spans_of(const CUDA_MEMCPY3D& copy) noexcept { return spans_of_3d(copy); }
ShapedCopy spans_of(const CUDA_MEMCPY3D_PEER& copy) noexcept { return spans_of_3d(copy); }

runtime::Range if_ours(const runtime::Arena& arena, const runtime::Range& range) noexcept {
  return range.base - arena.base < arena.size ? range : runtime::Range{};
}

}  // namespace tencache::doors
