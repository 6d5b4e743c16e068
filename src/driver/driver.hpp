// The genuine driver's entry points that tencache itself calls, as a struct that is handed in: the doors fill
// it from the genuine libcuda, unit tests from a fake, the one-executable tests from softgpu. Called by vmm,
// the runtime and the doors. Thread rule: filled once before any other thread sees it, then constant. Failure
// rule: fill() says which required entry point is missing; optional ones stay null.
#pragma once

#include <cuda.h>

namespace tencache {

// X(exported symbol, required). The symbol is the exact exported name; its type is that of the header's
// prototype.
#define TENCACHE_DRIVER_FUNCTIONS(X)         \
  X(cuInit, true)                            \
  X(cuDriverGetVersion, true)                \
  X(cuDeviceGet, true)                       \
  X(cuDeviceGetCount, true)                  \
  X(cuDeviceGetAttribute, true)              \
  X(cuDeviceTotalMem_v2, true)               \
  X(cuCtxGetCurrent, true)                   \
  X(cuCtxSetCurrent, true)                   \
  X(cuCtxPushCurrent_v2, true)               \
  X(cuCtxPopCurrent_v2, true)                \
  X(cuCtxGetDevice, true)                    \
  X(cuCtxSynchronize, true)                  \
  X(cuCtxGetFlags, true)                     \
  X(cuCtxSetFlags, false)                    \
  X(cuDevicePrimaryCtxRetain, true)          \
  X(cuDevicePrimaryCtxRelease_v2, true)      \
  X(cuDevicePrimaryCtxGetState, true)        \
  X(cuDeviceGetDefaultMemPool, false)        \
  X(cuDeviceGetMemPool, false)               \
  X(cuStreamCreate, true)                    \
  X(cuStreamCreateWithPriority, true)        \
  X(cuStreamDestroy_v2, true)                \
  X(cuStreamSynchronize, true)               \
  X(cuStreamQuery, true)                     \
  X(cuStreamWaitEvent, true)                 \
  X(cuStreamGetCtx, true)                    \
  X(cuStreamGetId, false)                    \
  X(cuStreamIsCapturing, true)               \
  X(cuThreadExchangeStreamCaptureMode, true) \
  X(cuEventCreate, true)                     \
  X(cuEventDestroy_v2, true)                 \
  X(cuEventRecord, true)                     \
  X(cuEventQuery, true)                      \
  X(cuEventSynchronize, true)                \
  X(cuMemAlloc_v2, true)                     \
  X(cuMemAllocPitch_v2, true)                \
  X(cuMemFree_v2, true)                      \
  X(cuMemGetInfo_v2, true)                   \
  X(cuMemHostAlloc, true)                    \
  X(cuMemFreeHost, true)                     \
  X(cuMemHostGetDevicePointer_v2, true)      \
  X(cuPointerGetAttribute, true)             \
  X(cuMemAddressReserve, true)               \
  X(cuMemAddressFree, true)                  \
  X(cuMemCreate, true)                       \
  X(cuMemRelease, true)                      \
  X(cuMemMap, true)                          \
  X(cuMemUnmap, true)                        \
  X(cuMemSetAccess, true)                    \
  X(cuMemGetAllocationGranularity, true)     \
  X(cuMemcpyHtoD_v2, true)                   \
  X(cuMemcpyDtoH_v2, true)                   \
  X(cuMemcpyHtoDAsync_v2, true)              \
  X(cuMemcpyDtoHAsync_v2, true)              \
  X(cuMemcpyDtoDAsync_v2, true)              \
  X(cuMemsetD8_v2, true)                     \
  X(cuMemsetD8Async, true)                   \
  X(cuModuleLoadData, true)                  \
  X(cuModuleUnload, true)                    \
  X(cuModuleGetFunction, true)               \
  X(cuFuncGetModule, true)                   \
  X(cuFuncGetParamInfo, false)               \
  X(cuKernelGetFunction, false)              \
  X(cuKernelGetParamInfo, false)             \
  X(cuLaunchKernel, true)                    \
  X(cuGraphGetNodes, false)                  \
  X(cuGraphNodeGetType, false)               \
  X(cuGraphKernelNodeGetParams_v2, false)    \
  X(cuGraphKernelNodeGetAttribute, false)    \
  X(cuGraphMemcpyNodeGetParams, false)       \
  X(cuGraphMemsetNodeGetParams, false)       \
  X(cuGraphChildGraphNodeGetGraph, false)    \
  X(cuGetErrorName, true)

struct Driver {
#define TENCACHE_DRIVER_MEMBER(symbol, required) decltype(&::symbol) symbol = nullptr;
  TENCACHE_DRIVER_FUNCTIONS(TENCACHE_DRIVER_MEMBER)
#undef TENCACHE_DRIVER_MEMBER

  // Fills every member with lookup("symbol"). Returns null, or the name of a required symbol that is missing.
  template <class Lookup>
  const char* fill(Lookup&& lookup) {
    const char* missing = nullptr;
#define TENCACHE_DRIVER_FILL(symbol, required)                           \
  this->symbol = reinterpret_cast<decltype(&::symbol)>(lookup(#symbol)); \
  if ((required) && this->symbol == nullptr && missing == nullptr) missing = #symbol;
    TENCACHE_DRIVER_FUNCTIONS(TENCACHE_DRIVER_FILL)
#undef TENCACHE_DRIVER_FILL
    return missing;
  }
};

}  // namespace tencache
