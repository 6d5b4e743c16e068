#include "tools/softgpu/driver/copy_plan.hpp"

namespace softgpu {
namespace {

bool is_known_to_device(Place place) { return place != Place::kPageable && place != Place::kInvalid; }

CUresult judge(CopySide& side, Claim claim, const CopyPlan& plan) {
  side.place = machine().space.place(side.address, side.extent(plan.width, plan.height, plan.depth));
  if (side.place == Place::kInvalid) return CUDA_ERROR_INVALID_VALUE;
  if (claim == Claim::kDevice && !is_known_to_device(side.place)) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

// One side of a 2-D or 3-D copy; the structs of the API name their fields alike.
struct Shape {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  std::size_t x, y, z, pitch, height;
};

CUresult shape_side(const Shape& shape, const CopyPlan& plan, CopySide* side, Claim* claim) {
  if (shape.type == CU_MEMORYTYPE_ARRAY) return CUDA_ERROR_NOT_SUPPORTED;
  const bool host = shape.type == CU_MEMORYTYPE_HOST;
  if (!host && shape.type != CU_MEMORYTYPE_DEVICE && shape.type != CU_MEMORYTYPE_UNIFIED)
    return CUDA_ERROR_INVALID_VALUE;
  *claim = host ? Claim::kHost : shape.type == CU_MEMORYTYPE_DEVICE ? Claim::kDevice : Claim::kEither;
  side->pitch = shape.pitch != 0 ? shape.pitch : shape.x + plan.width;
  if (plan.height > 1 && side->pitch < shape.x + plan.width) return CUDA_ERROR_INVALID_VALUE;
  const std::size_t rows = shape.height != 0 ? shape.height : shape.y + plan.height;
  if (plan.depth > 1 && rows < shape.y + plan.height) return CUDA_ERROR_INVALID_VALUE;
  side->slice = side->pitch * rows;
  const std::uint64_t base = host ? reinterpret_cast<std::uint64_t>(shape.host) : shape.device;
  side->address = base + shape.z * side->slice + shape.y * side->pitch + shape.x;
  return CUDA_SUCCESS;
}

CUresult plan_box(const Shape& to, const Shape& from, CopyPlan* plan, Claims* claims) {
  if (plan->bytes() == 0) return CUDA_SUCCESS;
  SOFTGPU_TRY(shape_side(to, *plan, &plan->to, &claims->to));
  return shape_side(from, *plan, &plan->from, &claims->from);
}

template <class Copy>
CUresult plan_3d(const Copy& copy, CopyPlan* plan, Claims* claims) {
  if (copy.srcLOD != 0 || copy.dstLOD != 0) return CUDA_ERROR_INVALID_VALUE;
  plan->width = copy.WidthInBytes;
  plan->height = copy.Height;
  plan->depth = copy.Depth;
  const Shape to{copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstXInBytes,
                 copy.dstY,          copy.dstZ,    copy.dstPitch,  copy.dstHeight};
  const Shape from{copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcXInBytes,
                   copy.srcY,          copy.srcZ,    copy.srcPitch,  copy.srcHeight};
  return plan_box(to, from, plan, claims);
}

CUmemorytype type_of(Place place) {
  return place == Place::kDevice || place == Place::kHostBlock ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

}  // namespace

CUresult plan_copy(const CUDA_MEMCPY2D& copy, CopyPlan* plan, Claims* claims) {
  plan->width = copy.WidthInBytes;
  plan->height = copy.Height;
  const Shape to{
      copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstXInBytes, copy.dstY, 0, copy.dstPitch, 0};
  const Shape from{
      copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcXInBytes, copy.srcY, 0, copy.srcPitch, 0};
  return plan_box(to, from, plan, claims);
}

CUresult plan_copy(const CUDA_MEMCPY3D& copy, CopyPlan* plan, Claims* claims) {
  return plan_3d(copy, plan, claims);
}

CUresult plan_copy(const CUDA_MEMCPY3D_PEER& copy, CopyPlan* plan, Claims* claims) {
  return plan_3d(copy, plan, claims);
}

CUresult judge_copy(const Claims& claims, CopyPlan* plan) {
  SOFTGPU_TRY(judge(plan->to, claims.to, *plan));
  return judge(plan->from, claims.from, *plan);
}

CUDA_MEMCPY3D describe_copy(const CopyPlan& plan) {
  const auto rows = [](const CopySide& side) { return side.pitch == 0 ? 0 : side.slice / side.pitch; };
  CUDA_MEMCPY3D copy{};
  copy.WidthInBytes = plan.width;
  copy.Height = plan.height;
  copy.Depth = plan.depth;
  copy.dstMemoryType = type_of(plan.to.place);
  copy.dstDevice = plan.to.address;
  copy.dstHost = reinterpret_cast<void*>(plan.to.address);
  copy.dstPitch = plan.to.pitch;
  copy.dstHeight = rows(plan.to);
  copy.srcMemoryType = type_of(plan.from.place);
  copy.srcDevice = plan.from.address;
  copy.srcHost = reinterpret_cast<const void*>(plan.from.address);
  copy.srcPitch = plan.from.pitch;
  copy.srcHeight = rows(plan.from);
  return copy;
}

CUresult judge_fill(const FillPlan& plan, Place* place) {
  if (plan.address % plan.element != 0 || plan.pitch % plan.element != 0) return CUDA_ERROR_INVALID_VALUE;
  if (plan.height > 1 && plan.pitch < plan.width * plan.element) return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t extent = (plan.height - 1) * plan.pitch + plan.width * plan.element;
  const Place found = machine().space.place(plan.address, extent);
  if (place != nullptr) *place = found;
  return is_known_to_device(found) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace softgpu
