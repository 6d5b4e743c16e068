// Launches.
#include <memory>
#include <utility>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/call_costs.hpp"
#include "tools/softgpu/driver/capture.hpp"

namespace softgpu::api {
namespace {

CUresult enqueue(KernelNode node, CUstream handle, void** kernel_params, void** extra) {
  KernelLaunch& launch = node.launch;
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(handle, &stream));
  SOFTGPU_TRY(check_launch(launch));
  SOFTGPU_TRY(read_parameters(launch, kernel_params, extra));
  if (launch.cooperative)
    SOFTGPU_TRY(make_workspace(stream->queue->fate->device, stream->context_handle, &launch));
  const std::shared_ptr<Fate> fate = stream->queue->fate;
  pass_call_lock(CallCost::kLaunch);
  return submit(*stream, work_of(contents_of(std::move(node)), fate));
}

CUresult launch_grid(CUfunction f, std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> block,
                     unsigned shared, bool cooperative, CUstream stream, void** kernel_params, void** extra) {
  KernelNode node;
  SOFTGPU_TRY(find_function(f, &node.launch.function));
  node.function = f;
  node.launch.grid = grid;
  node.launch.block = block;
  node.launch.dynamic_shared = shared;
  node.launch.cooperative = cooperative;
  return enqueue(std::move(node), stream, kernel_params, extra);
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
