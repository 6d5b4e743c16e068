// Memsets: one plan of rows; the synchronous forms only join the order, as on a device, unless something
// says otherwise.
#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/call_costs.hpp"
#include "tools/softgpu/driver/capture.hpp"
#include "tools/softgpu/driver/copy_plan.hpp"

namespace softgpu::api {
namespace {

CUresult enqueue(const FillPlan& plan, CUstream handle, bool sync) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(handle, &stream));
  if (plan.width == 0 || plan.height == 0) return CUDA_SUCCESS;
  Place place = Place::kInvalid;
  SOFTGPU_TRY(judge_fill(plan, &place));
  if (sync) SOFTGPU_TRY(refuse_in_capture());
  const std::shared_ptr<Fate> fate = stream->queue->fate;
  pass_call_lock(CallCost::kLaunch);
  OperationPtr operation;
  SOFTGPU_TRY(submit(*stream, work_of(contents_of(FillNode{plan}), fate), &operation));
  const bool waits = sync && (place != Place::kDevice || is_synchronous(plan.address));
  return waits ? wait_for(*fate, operation) : CUDA_SUCCESS;
}

CUresult fill(CUdeviceptr address, std::size_t pitch, std::uint32_t value, std::uint64_t element,
              std::size_t width, std::size_t height, CUstream stream, bool sync) {
  FillPlan plan;
  plan.address = address;
  plan.pitch = pitch;
  plan.value = value;
  plan.element = element;
  plan.width = width;
  plan.height = height;
  return enqueue(plan, stream, sync);
}

}  // namespace

CUresult cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, std::size_t N) {
  return fill(dstDevice, 0, uc, 1, N, 1, nullptr, true);
}
CUresult cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, std::size_t N) {
  return fill(dstDevice, 0, us, 2, N, 1, nullptr, true);
}
CUresult cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, std::size_t N) {
  return fill(dstDevice, 0, ui, 4, N, 1, nullptr, true);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr dstDevice, std::size_t dstPitch, unsigned char uc, std::size_t Width,
                         std::size_t Height) {
  return fill(dstDevice, dstPitch, uc, 1, Width, Height, nullptr, true);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr dstDevice, std::size_t dstPitch, unsigned short us, std::size_t Width,
                          std::size_t Height) {
  return fill(dstDevice, dstPitch, us, 2, Width, Height, nullptr, true);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr dstDevice, std::size_t dstPitch, unsigned int ui, std::size_t Width,
                          std::size_t Height) {
  return fill(dstDevice, dstPitch, ui, 4, Width, Height, nullptr, true);
}
CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, std::size_t N, CUstream hStream) {
  return fill(dstDevice, 0, uc, 1, N, 1, hStream, false);
}
CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, std::size_t N, CUstream hStream) {
  return fill(dstDevice, 0, us, 2, N, 1, hStream, false);
}
CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, std::size_t N, CUstream hStream) {
  return fill(dstDevice, 0, ui, 4, N, 1, hStream, false);
}
CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, std::size_t dstPitch, unsigned char uc, std::size_t Width,
                           std::size_t Height, CUstream hStream) {
  return fill(dstDevice, dstPitch, uc, 1, Width, Height, hStream, false);
}
CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, std::size_t dstPitch, unsigned short us, std::size_t Width,
                            std::size_t Height, CUstream hStream) {
  return fill(dstDevice, dstPitch, us, 2, Width, Height, hStream, false);
}
CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, std::size_t dstPitch, unsigned int ui, std::size_t Width,
                            std::size_t Height, CUstream hStream) {
  return fill(dstDevice, dstPitch, ui, 4, Width, Height, hStream, false);
}

}  // namespace softgpu::api
