// Copies: every form becomes one plan of rows and planes, judged here and now by what its addresses are.
#include <utility>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/device/copy.hpp"
#include "tools/softgpu/driver/call_costs.hpp"
#include "tools/softgpu/driver/capture.hpp"

namespace softgpu::api {
namespace {

// What a call says its address is; kEither is for the driver to find out.
enum class Claim : std::uint8_t { kHost, kDevice, kEither };

bool is_known_to_device(Place place) { return place != Place::kPageable && place != Place::kInvalid; }

CUresult judge(CopySide& side, Claim claim, const CopyPlan& plan) {
  side.place = machine().space.place(side.address, side.extent(plan.width, plan.height, plan.depth));
  if (side.place == Place::kInvalid) return CUDA_ERROR_INVALID_VALUE;
  if (claim == Claim::kDevice && !is_known_to_device(side.place)) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

bool is_pageable(const CopySide& side) { return side.place == Place::kPageable; }

// Who copies without a stream waits, but for copies between device addresses, which only join the order.
bool waits(const CopyPlan& plan, bool sync) {
  if (is_pageable(plan.to)) return true;
  return sync && !(plan.to.place == Place::kDevice && plan.from.place == Place::kDevice);
}

CUresult refuse_waiting(Stream& stream, const CopyPlan& plan, bool sync) {
  if (sync) return refuse_in_capture();
  // A capture cannot read or write pageable memory at the call.
  return is_pageable(plan.to) || is_pageable(plan.from) ? refuse_if_capturing(stream) : CUDA_SUCCESS;
}

CUresult enqueue(CopyPlan plan, Claim to, Claim from, CUstream handle, bool sync) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(handle, &stream));
  if (plan.bytes() == 0) return CUDA_SUCCESS;
  SOFTGPU_TRY(judge(plan.to, to, plan));
  SOFTGPU_TRY(judge(plan.from, from, plan));
  SOFTGPU_TRY(refuse_waiting(*stream, plan, sync));
  if (is_pageable(plan.from) && !waits(plan, sync)) plan.stage();
  const std::shared_ptr<Fate> fate = stream->queue->fate;
  Device& device = machine().device(fate->device);
  pass_call_lock(CallCost::kLaunch);
  const bool wait = waits(plan, sync);
  Work work;
  work.engine = plan.engine();
  work.body = [plan = std::move(plan), fate, &device](Progress& progress) {
    execute_copy(device, plan, *fate, progress);
  };
  OperationPtr operation;
  SOFTGPU_TRY(submit(*stream, std::move(work), &operation));
  return wait ? wait_for(*fate, operation) : CUDA_SUCCESS;
}

CUresult copy_line(std::uint64_t to, Claim to_claim, std::uint64_t from, Claim from_claim, std::size_t bytes,
                   CUstream stream, bool sync) {
  CopyPlan plan;
  plan.to.address = to;
  plan.from.address = from;
  plan.width = bytes;
  return enqueue(std::move(plan), to_claim, from_claim, stream, sync);
}

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

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
  const std::uint64_t base = host ? address_of(shape.host) : shape.device;
  side->address = base + shape.z * side->slice + shape.y * side->pitch + shape.x;
  return CUDA_SUCCESS;
}

CUresult copy_box(const Shape& to, const Shape& from, CopyPlan plan, CUstream stream, bool sync) {
  Claim to_claim = Claim::kEither;
  Claim from_claim = Claim::kEither;
  if (plan.bytes() == 0) return CUDA_SUCCESS;
  SOFTGPU_TRY(shape_side(to, plan, &plan.to, &to_claim));
  SOFTGPU_TRY(shape_side(from, plan, &plan.from, &from_claim));
  return enqueue(std::move(plan), to_claim, from_claim, stream, sync);
}

CUresult copy_2d(const CUDA_MEMCPY2D* copy, CUstream stream, bool sync) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CopyPlan plan;
  plan.width = copy->WidthInBytes;
  plan.height = copy->Height;
  const Shape to{copy->dstMemoryType, copy->dstHost,
                 copy->dstDevice,     copy->dstXInBytes,
                 copy->dstY,          0,
                 copy->dstPitch,      0};
  const Shape from{copy->srcMemoryType, copy->srcHost,
                   copy->srcDevice,     copy->srcXInBytes,
                   copy->srcY,          0,
                   copy->srcPitch,      0};
  return copy_box(to, from, std::move(plan), stream, sync);
}

// CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER.
template <class Copy>
CUresult copy_3d(const Copy* copy, CUstream stream, bool sync) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (copy->srcLOD != 0 || copy->dstLOD != 0) return CUDA_ERROR_INVALID_VALUE;
  CopyPlan plan;
  plan.width = copy->WidthInBytes;
  plan.height = copy->Height;
  plan.depth = copy->Depth;
  const Shape to{copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstXInBytes,
                 copy->dstY,          copy->dstZ,    copy->dstPitch,  copy->dstHeight};
  const Shape from{copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcXInBytes,
                   copy->srcY,          copy->srcZ,    copy->srcPitch,  copy->srcHeight};
  return copy_box(to, from, std::move(plan), stream, sync);
}

}  // namespace

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, std::size_t ByteCount) {
  return copy_line(dst, Claim::kEither, src, Claim::kEither, ByteCount, nullptr, true);
}
CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, std::size_t ByteCount, CUstream hStream) {
  return copy_line(dst, Claim::kEither, src, Claim::kEither, ByteCount, hStream, false);
}
CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext, CUdeviceptr srcDevice, CUcontext,
                      std::size_t ByteCount) {
  return copy_line(dstDevice, Claim::kDevice, srcDevice, Claim::kDevice, ByteCount, nullptr, true);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext, CUdeviceptr srcDevice, CUcontext,
                           std::size_t ByteCount, CUstream hStream) {
  return copy_line(dstDevice, Claim::kDevice, srcDevice, Claim::kDevice, ByteCount, hStream, false);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void* srcHost, std::size_t ByteCount) {
  return copy_line(dstDevice, Claim::kDevice, address_of(srcHost), Claim::kHost, ByteCount, nullptr, true);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void* srcHost, std::size_t ByteCount,
                              CUstream hStream) {
  return copy_line(dstDevice, Claim::kDevice, address_of(srcHost), Claim::kHost, ByteCount, hStream, false);
}
CUresult cuMemcpyDtoH_v2(void* dstHost, CUdeviceptr srcDevice, std::size_t ByteCount) {
  return copy_line(address_of(dstHost), Claim::kHost, srcDevice, Claim::kDevice, ByteCount, nullptr, true);
}
CUresult cuMemcpyDtoHAsync_v2(void* dstHost, CUdeviceptr srcDevice, std::size_t ByteCount, CUstream hStream) {
  return copy_line(address_of(dstHost), Claim::kHost, srcDevice, Claim::kDevice, ByteCount, hStream, false);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, std::size_t ByteCount) {
  return copy_line(dstDevice, Claim::kDevice, srcDevice, Claim::kDevice, ByteCount, nullptr, true);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, std::size_t ByteCount,
                              CUstream hStream) {
  return copy_line(dstDevice, Claim::kDevice, srcDevice, Claim::kDevice, ByteCount, hStream, false);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* pCopy) { return copy_2d(pCopy, nullptr, true); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* pCopy) { return copy_2d(pCopy, nullptr, true); }
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* pCopy, CUstream hStream) {
  return copy_2d(pCopy, hStream, false);
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* pCopy) { return copy_3d(pCopy, nullptr, true); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* pCopy, CUstream hStream) {
  return copy_3d(pCopy, hStream, false);
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* pCopy) { return copy_3d(pCopy, nullptr, true); }
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* pCopy, CUstream hStream) {
  return copy_3d(pCopy, hStream, false);
}

}  // namespace softgpu::api
