#include "interpose/shape.hpp"

namespace tencache::doors {

namespace {

std::uint64_t distance(const Layout& layout, const Corner& corner) {
  return (corner.z * layout.rows_per_slice + corner.y) * layout.pitch + corner.x;
}

template <class Copy>
Shape shape_of_3d(const Copy& copy) noexcept {
  return {{copy.WidthInBytes, copy.Height, copy.Depth},
          {copy.dstPitch, copy.dstHeight},
          {copy.srcPitch, copy.srcHeight}};
}

template <class Copy>
void place_rows(Copy& part, const runtime::Rows& rows, const PartPlace& place) {
  part.WidthInBytes = rows.width;
  part.Height = rows.count;
  const bool moved_to = place.destination != 0;
  if (moved_to) part.dstDevice = place.destination;
  part.dstXInBytes = moved_to ? 0 : part.dstXInBytes + place.corner.x;
  part.dstY = moved_to ? 0 : part.dstY + place.corner.y;
  const bool moved_from = place.source != 0;
  if (moved_from) part.srcDevice = place.source;
  part.srcXInBytes = moved_from ? 0 : part.srcXInBytes + place.corner.x;
  part.srcY = moved_from ? 0 : part.srcY + place.corner.y;
}

template <class Copy>
Copy part_of_3d(const Copy& copy, const runtime::Rows& rows, const PartPlace& place) {
  Copy part = copy;
  place_rows(part, rows, place);
  part.Depth = 1;
  part.dstZ = place.destination != 0 ? 0 : part.dstZ + place.corner.z;
  part.srcZ = place.source != 0 ? 0 : part.srcZ + place.corner.z;
  return part;
}

}  // namespace

bool Shape::divisible() const noexcept {
  std::size_t rows = 0;
  std::size_t bytes = 0;
  return !__builtin_mul_overflow(box.height, box.depth, &rows) &&
         !__builtin_mul_overflow(rows, box.width, &bytes);
}

Corner Shape::corner_at(std::uint64_t offset) const noexcept {
  if (box.width == 0 || box.height == 0) return {0, 0, box.depth};
  const std::uint64_t row = offset / box.width;
  return {offset % box.width, row % box.height, row / box.height};
}

runtime::Rows Shape::rows_at(std::uint64_t offset) const noexcept {
  const Corner corner = corner_at(offset);
  if (corner.z >= box.depth) return {};
  return {box.width - corner.x,
          corner.x == 0 ? box.height - corner.y : 1,
          distance(destination, corner),
          distance(source, corner),
          destination.pitch,
          source.pitch};
}

Shape shape_of(const CUDA_MEMCPY2D& copy) noexcept {
  return {{copy.WidthInBytes, copy.Height, 1}, {copy.dstPitch, 0}, {copy.srcPitch, 0}};
}
Shape shape_of(const CUDA_MEMCPY3D& copy) noexcept { return shape_of_3d(copy); }
Shape shape_of(const CUDA_MEMCPY3D_PEER& copy) noexcept { return shape_of_3d(copy); }

CUDA_MEMCPY2D part_of(const CUDA_MEMCPY2D& copy, const runtime::Rows& rows, const PartPlace& place) noexcept {
  CUDA_MEMCPY2D part = copy;
  place_rows(part, rows, place);
  return part;
}
CUDA_MEMCPY3D part_of(const CUDA_MEMCPY3D& copy, const runtime::Rows& rows, const PartPlace& place) noexcept {
  return part_of_3d(copy, rows, place);
}
CUDA_MEMCPY3D_PEER part_of(const CUDA_MEMCPY3D_PEER& copy, const runtime::Rows& rows,
                           const PartPlace& place) noexcept {
  return part_of_3d(copy, rows, place);
}

}  // namespace tencache::doors
