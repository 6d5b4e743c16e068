// Kernel launches in every form.
#include "tools/softgpu/cudart/launch.hpp"

#include "tools/softgpu/cudart/registry.hpp"

using namespace softgpu::cudart;

namespace {

// The driver's launches take a CUkernel in the place of a CUfunction.
CUfunction launchable(CUkernel kernel) { return reinterpret_cast<CUfunction>(kernel); }

// What the driver calls an invalid value, in a launch, the runtime calls an invalid configuration.
cudaError_t launch_error(CUresult result) {
  return result == CUDA_ERROR_INVALID_VALUE ? cudaErrorInvalidConfiguration : to_runtime(result);
}

// Runs `launch` with the kernel behind whatever the program passed.
template <class Launch>
cudaError_t with_kernel(const void* function, Launch launch) {
  return in_context([&]() -> cudaError_t {
    CUkernel kernel = nullptr;
    const CUresult result = kernel_of(function, &kernel);
    return result == CUDA_SUCCESS ? launch_error(launch(launchable(kernel))) : to_runtime(result);
  });
}

CUresult launch_kernel(CUfunction kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                       cudaStream_t stream) {
  return on_stream.cuLaunchKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                  static_cast<unsigned int>(shared_bytes), stream, arguments, nullptr);
}

}  // namespace

#if defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)
#define __cudaLaunchKernel __cudaLaunchKernel_ptsz
#endif

// What nvcc's <<<>>> calls, with the handle that __cudaGetKernel gave.
// NOLINTNEXTLINE(readability-identifier-naming): nvcc's name
extern "C" cudaError_t __cudaLaunchKernel(cudaKernel_t handle, dim3 grid, dim3 block, void** arguments,
                                          size_t shared_bytes, cudaStream_t stream) {
  return in_context([&]() -> cudaError_t {
    auto* const registered = reinterpret_cast<Kernel*>(handle);
    if (registered == nullptr) return cudaErrorInvalidDeviceFunction;
    CUkernel kernel = nullptr;
    const CUresult result = registered->resolve(&kernel);
    if (result != CUDA_SUCCESS) return to_runtime(result);
    return launch_error(launch_kernel(launchable(kernel), grid, block, arguments, shared_bytes, stream));
  });
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes, cudaStream_t stream) {
  return with_kernel(function, [&](CUfunction kernel) {
    return launch_kernel(kernel, grid, block, arguments, shared_bytes, stream);
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return with_kernel(function, [&](CUfunction kernel) {
    const CUlaunchConfig converted = to_driver(*config);
    return on_stream.cuLaunchKernelEx(&converted, kernel, arguments, nullptr);
  });
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes, cudaStream_t stream) {
  return with_kernel(function, [&](CUfunction kernel) {
    return on_stream.cuLaunchCooperativeKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                               static_cast<unsigned int>(shared_bytes), stream, arguments);
  });
}
