// Which device and context a thread's calls go to.
#include "tools/softgpu/cudart/context.hpp"

#include <array>
#include <mutex>

#include "tools/softgpu/cudart/call.hpp"

namespace softgpu::cudart {
namespace {

constexpr int kMaximumDevices = 64;

thread_local int chosen_device = 0;

std::mutex primary_mutex;
std::array<CUcontext, kMaximumDevices> primary_contexts{};

}  // namespace

int chosen() { return chosen_device; }

// The runtime holds one reference to each primary context it uses, for the life of the process.
CUresult primary_context(int device, CUcontext* context) {
  if (device < 0 || device >= kMaximumDevices) return CUDA_ERROR_INVALID_DEVICE;
  const std::lock_guard lock(primary_mutex);
  CUresult result = CUDA_SUCCESS;
  if (primary_contexts[device] == nullptr) {
    result = driver.cuDevicePrimaryCtxRetain(&primary_contexts[device], device);
  }
  *context = primary_contexts[device];
  return result;
}

cudaError_t choose(int device) {
  CUcontext context = nullptr;
  CUresult result = primary_context(device, &context);
  if (result == CUDA_SUCCESS) result = driver.cuCtxSetCurrent(context);
  if (result == CUDA_SUCCESS) chosen_device = device;
  return to_runtime(result);
}

CUresult reset(int device) {
  const std::lock_guard lock(primary_mutex);
  primary_contexts[device] = nullptr;
  const CUresult result = driver.cuDevicePrimaryCtxReset(device);
  return result == CUDA_SUCCESS ? driver.cuCtxSetCurrent(nullptr) : result;
}

cudaError_t use_context() {
  CUcontext current = nullptr;
  const CUresult result = driver.cuCtxGetCurrent(&current);
  if (result != CUDA_SUCCESS) return to_runtime(result);
  return current == nullptr ? choose(chosen_device) : cudaSuccess;
}

}  // namespace softgpu::cudart
