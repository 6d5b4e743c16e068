// Copies: every form becomes one plan of rows and planes, judged here and now by what its addresses are.
#include <utility>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/call_costs.hpp"
#include "tools/softgpu/driver/capture.hpp"
#include "tools/softgpu/driver/copy_plan.hpp"

namespace softgpu::api {
namespace {

bool is_pageable(const CopySide& side) { return side.place == Place::kPageable; }

// Who copies without a stream waits, but for copies between device addresses, which only join the order
// unless something says otherwise.
bool waits(const CopyPlan& plan, bool sync) {
  if (is_pageable(plan.to)) return true;
  if (!sync || plan.to.place != Place::kDevice || plan.from.place != Place::kDevice) return sync;
  return is_synchronous(plan.to.address) || is_synchronous(plan.from.address);
}

CUresult refuse_waiting(Stream& stream, const CopyPlan& plan, bool sync) {
  if (sync) return refuse_in_capture();
  // A capture cannot read or write pageable memory at the call.
  return is_pageable(plan.to) || is_pageable(plan.from) ? refuse_if_capturing(stream) : CUDA_SUCCESS;
}

CUresult enqueue(CopyPlan plan, const Claims& claims, CUstream handle, bool sync) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(handle, &stream));
  if (plan.bytes() == 0) return CUDA_SUCCESS;
  SOFTGPU_TRY(judge_copy(claims, &plan));
  SOFTGPU_TRY(refuse_waiting(*stream, plan, sync));
  if (is_pageable(plan.from) && !waits(plan, sync)) plan.stage();
  const std::shared_ptr<Fate> fate = stream->queue->fate;
  pass_call_lock(CallCost::kLaunch);
  const bool wait = waits(plan, sync);
  OperationPtr operation;
  SOFTGPU_TRY(submit(*stream, work_of(contents_of(CopyNode{std::move(plan)}), fate), &operation));
  return wait ? wait_for(*fate, operation) : CUDA_SUCCESS;
}

CUresult copy_line(std::uint64_t to, Claim to_claim, std::uint64_t from, Claim from_claim, std::size_t bytes,
                   CUstream stream, bool sync) {
  CopyPlan plan;
  plan.to.address = to;
  plan.from.address = from;
  plan.width = bytes;
  return enqueue(std::move(plan), {to_claim, from_claim}, stream, sync);
}

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

// CUDA_MEMCPY2D, CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER.
template <class Copy>
CUresult copy_box(const Copy* copy, CUstream stream, bool sync) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CopyPlan plan;
  Claims claims;
  SOFTGPU_TRY(plan_copy(*copy, &plan, &claims));
  return enqueue(std::move(plan), claims, stream, sync);
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

// In the order of the stream; each copy is judged as cuMemcpyAsync's. Attributes are hints here.
CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* dsts, CUdeviceptr* srcs, std::size_t* sizes, std::size_t count,
                               CUmemcpyAttributes* attrs, std::size_t* attrsIdxs, std::size_t numAttrs,
                               CUstream hStream) {
  const bool complete = dsts != nullptr && srcs != nullptr && sizes != nullptr && count > 0 &&
                        attrs != nullptr && attrsIdxs != nullptr && numAttrs > 0 && numAttrs <= count;
  if (!complete || attrsIdxs[0] != 0) return CUDA_ERROR_INVALID_VALUE;
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  const bool legacy = hStream == nullptr ? !per_thread_default_stream : hStream == CU_STREAM_LEGACY;
  if (legacy) return CUDA_ERROR_INVALID_VALUE;
  SOFTGPU_TRY(refuse_if_capturing(*stream));
  for (std::size_t i = 0; i < count; ++i) {
    SOFTGPU_TRY(copy_line(dsts[i], Claim::kEither, srcs[i], Claim::kEither, sizes[i], hStream, false));
  }
  return CUDA_SUCCESS;
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* pCopy) { return copy_box(pCopy, nullptr, true); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* pCopy) { return copy_box(pCopy, nullptr, true); }
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* pCopy, CUstream hStream) {
  return copy_box(pCopy, hStream, false);
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* pCopy) { return copy_box(pCopy, nullptr, true); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* pCopy, CUstream hStream) {
  return copy_box(pCopy, hStream, false);
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* pCopy) { return copy_box(pCopy, nullptr, true); }
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* pCopy, CUstream hStream) {
  return copy_box(pCopy, hStream, false);
}

}  // namespace softgpu::api
