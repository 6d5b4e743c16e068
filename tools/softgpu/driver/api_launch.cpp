// Launches.
#include <memory>
#include <utility>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/call_costs.hpp"
#include "tools/softgpu/driver/capture.hpp"
#include "tools/softgpu/driver/launch.hpp"
#include "tools/softgpu/driver/memory.hpp"

namespace softgpu::api {
namespace {

CUresult make_workspace(const Stream& stream, KernelLaunch& launch) {
  std::uint64_t address = 0;
  SOFTGPU_TRY(allocate_device(stream.queue->fate->device, stream.context_handle, Range::Kind::kInternal,
                              Workspace::kBytes, &address));
  launch.workspace = std::make_shared<Workspace>(address);
  return CUDA_SUCCESS;
}

CUresult enqueue(KernelLaunch launch, CUstream handle, void** kernel_params, void** extra) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(handle, &stream));
  SOFTGPU_TRY(check_launch(launch));
  SOFTGPU_TRY(read_parameters(launch, kernel_params, extra));
  if (launch.cooperative) SOFTGPU_TRY(make_workspace(*stream, launch));
  const std::shared_ptr<Fate> fate = stream->queue->fate;
  pass_call_lock(CallCost::kLaunch);
  Work work;
  work.engine = EngineKind::kCompute;
  work.body = [launch = std::move(launch), fate](Progress& progress) {
    execute_launch(launch, *fate, progress);
  };
  return submit(*stream, std::move(work));
}

CUresult launch_grid(CUfunction f, std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> block,
                     unsigned shared, bool cooperative, CUstream stream, void** kernel_params, void** extra) {
  KernelLaunch launch;
  SOFTGPU_TRY(find_function(f, &launch.function));
  launch.grid = grid;
  launch.block = block;
  launch.dynamic_shared = shared;
  launch.cooperative = cooperative;
  return enqueue(std::move(launch), stream, kernel_params, extra);
}

}  // namespace

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                        unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                        unsigned int sharedMemBytes, CUstream hStream, void** kernelParams, void** extra) {
  if (kernelParams != nullptr && extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
  return launch_grid(f, {gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes,
                     false, hStream, kernelParams, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                   unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                   unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                                   void** kernelParams) {
  return launch_grid(f, {gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes,
                     true, hStream, kernelParams, nullptr);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** kernelParams, void** extra) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  bool cooperative = false;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) cooperative = attribute.value.cooperative != 0;
    const bool clusters =
        attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
        attribute.value.clusterDim.x * attribute.value.clusterDim.y * attribute.value.clusterDim.z > 1;
    if (clusters) return CUDA_ERROR_NOT_SUPPORTED;
  }
  return launch_grid(f, {config->gridDimX, config->gridDimY, config->gridDimZ},
                     {config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes,
                     cooperative, config->hStream, kernelParams, extra);
}

}  // namespace softgpu::api
