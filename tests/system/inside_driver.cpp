// The driver's names for a program that has doors, runtime and softgpu inside: one executable, so that a
// sanitizer sees all of it. Each name jumps to what the doors hand out, as a program linked with -lcuda gets
// from the preload.
#include <cstdio>
#include <cstdlib>

#include "interpose/genuine_driver.hpp"
#include "tools/softgpu/driver/entry_point.hpp"

// clang-format off
#define DRIVER_NAMES(X) \
  X(cuCtxSetCurrent) X(cuCtxSynchronize) X(cuDeviceGet) X(cuDevicePrimaryCtxRetain) \
  X(cuEventCreate) X(cuEventDestroy_v2) X(cuEventRecord) X(cuGetProcAddress_v2) X(cuInit) \
  X(cuLaunchHostFunc) X(cuLaunchKernel) X(cuLaunchKernelEx) X(cuMemAllocAsync) \
  X(cuMemAllocPitch_v2) X(cuMemAlloc_v2) X(cuMemFreeAsync) X(cuMemFreeHost) X(cuMemFree_v2) \
  X(cuMemGetAddressRange_v2) X(cuMemHostAlloc) X(cuMemcpy) X(cuMemcpy2DAsync_v2) X(cuMemcpy2D_v2) \
  X(cuMemcpy3D_v2) X(cuMemcpyAsync) X(cuMemcpyDtoDAsync_v2) X(cuMemcpyDtoD_v2) \
  X(cuMemcpyDtoHAsync_v2) X(cuMemcpyDtoH_v2) X(cuMemcpyHtoDAsync_v2) X(cuMemcpyHtoD_v2) \
  X(cuMemsetD16_v2) X(cuMemsetD2D32_v2) X(cuMemsetD32Async) X(cuMemsetD32_v2) X(cuMemsetD8Async) \
  X(cuMemsetD8_v2) X(cuModuleGetFunction) X(cuModuleLoadData) X(cuPointerGetAttribute) \
  X(cuStreamCreate) X(cuStreamDestroy_v2) X(cuStreamSynchronize) X(cuStreamWaitEvent)
// clang-format on

#define DRIVER_NAME(name)                                               \
  extern "C" __attribute__((visibility("hidden"))) void* inside_##name; \
  void* inside_##name = nullptr;                                        \
  asm(".text\n.globl " #name "\n.type " #name ", @function\n" #name ": jmp *inside_" #name "(%rip)\n");
DRIVER_NAMES(DRIVER_NAME)

namespace {

void* from_softgpu(void*, const char* symbol) { return softgpu::entry_point(symbol); }

void take(void** slot, const char* symbol) {
  *slot = tencache::interpose::entry_point(symbol);
  if (*slot != nullptr) return;
  std::fprintf(stderr, "inside_driver: no %s\n", symbol);
  std::abort();
}

__attribute__((constructor)) void take_all() {
  tencache::interpose::adopt_driver({from_softgpu, nullptr});
#define DRIVER_SLOT(name) take(&inside_##name, #name);
  DRIVER_NAMES(DRIVER_SLOT)
}

}  // namespace
