// The driver's names for a program that has doors, runtime and softgpu inside: one executable, so that a
// sanitizer sees all of it. Each name jumps to what the doors hand out, as a program linked with -lcuda gets
// from the preload.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "interpose/genuine_driver.hpp"
#include "interpose/visit.hpp"
#include "tools/softgpu/driver/entry_point.hpp"
#include "tools/torture_programs/coverage.hpp"

// clang-format off
#define DRIVER_NAMES(X) \
  X(cuCtxCreate_v4) X(cuCtxDestroy_v2) X(cuCtxGetStreamPriorityRange) X(cuCtxPopCurrent_v2) \
  X(cuCtxPushCurrent_v2) X(cuCtxSetCurrent) X(cuCtxSynchronize) X(cuDeviceGet) X(cuDeviceGetAttribute) \
  X(cuDeviceGetDefaultMemPool) X(cuDeviceGetMemPool) X(cuDevicePrimaryCtxRetain) \
  X(cuDeviceTotalMem_v2) X(cuEventCreate) X(cuEventDestroy_v2) X(cuEventElapsedTime_v2) \
  X(cuEventQuery) X(cuEventRecord) X(cuEventRecordWithFlags) X(cuEventSynchronize) \
  X(cuFuncGetAttribute) X(cuFuncGetParamInfo) X(cuGetErrorName) X(cuGetErrorString) \
  X(cuGetProcAddress_v2) X(cuGraphAddChildGraphNode) X(cuGraphAddEmptyNode) X(cuGraphAddHostNode) \
  X(cuGraphAddKernelNode_v2) X(cuGraphAddMemcpyNode) X(cuGraphAddMemsetNode) X(cuGraphClone) \
  X(cuGraphCreate) X(cuGraphDestroy) X(cuGraphExecDestroy) X(cuGraphExecKernelNodeSetParams_v2) \
  X(cuGraphGetNodes) X(cuGraphInstantiateWithFlags) X(cuGraphLaunch) X(cuInit) X(cuKernelGetFunction) \
  X(cuLaunchCooperativeKernel) X(cuLaunchHostFunc) X(cuLaunchKernel) X(cuLaunchKernelEx) \
  X(cuLibraryGetKernel) X(cuLibraryLoadData) X(cuLibraryUnload) X(cuMemAddressFree) \
  X(cuMemAddressReserve) X(cuMemAllocAsync) X(cuMemAllocFromPoolAsync) X(cuMemAllocManaged) \
  X(cuMemAllocPitch_v2) X(cuMemAlloc_v2) X(cuMemCreate) X(cuMemFreeAsync) X(cuMemFreeHost) \
  X(cuMemFree_v2) X(cuMemGetAddressRange_v2) X(cuMemGetAllocationGranularity) X(cuMemGetInfo_v2) \
  X(cuMemHostAlloc) X(cuMemHostGetDevicePointer_v2) X(cuMemHostRegister_v2) X(cuMemHostUnregister) \
  X(cuMemMap) X(cuMemPoolCreate) X(cuMemPoolDestroy) X(cuMemPoolGetAttribute) X(cuMemPoolSetAttribute) \
  X(cuMemPoolTrimTo) X(cuMemRelease) X(cuMemSetAccess) X(cuMemUnmap) X(cuMemcpy) X(cuMemcpy2DAsync_v2) \
  X(cuMemcpy2DUnaligned_v2) X(cuMemcpy2D_v2) X(cuMemcpy3DAsync_v2) X(cuMemcpy3DPeer) X(cuMemcpy3D_v2) \
  X(cuMemcpyAsync) X(cuMemcpyBatchAsync_v2) X(cuMemcpyDtoDAsync_v2) X(cuMemcpyDtoD_v2) X(cuMemcpyDtoHAsync_v2) \
  X(cuMemcpyDtoH_v2) X(cuMemcpyHtoDAsync_v2) X(cuMemcpyHtoD_v2) X(cuMemcpyPeer) X(cuMemcpyPeerAsync) \
  X(cuMemsetD16Async) X(cuMemsetD16_v2) X(cuMemsetD2D16Async) X(cuMemsetD2D32Async) \
  X(cuMemsetD2D32_v2) X(cuMemsetD2D8_v2) X(cuMemsetD32Async) X(cuMemsetD32_v2) X(cuMemsetD8Async) \
  X(cuMemsetD8_v2) X(cuModuleGetFunction) X(cuModuleGetGlobal_v2) X(cuModuleLoadData) \
  X(cuModuleUnload) X(cuOccupancyMaxActiveBlocksPerMultiprocessor) X(cuPointerGetAttribute) \
  X(cuPointerGetAttributes) X(cuPointerSetAttribute) X(cuStreamAddCallback) X(cuStreamBeginCapture_v2) X(cuStreamCreate) \
  X(cuStreamCreateWithPriority) X(cuStreamDestroy_v2) X(cuStreamEndCapture) X(cuStreamGetCtx) \
  X(cuStreamGetFlags) X(cuStreamGetPriority) X(cuStreamIsCapturing) X(cuStreamQuery) \
  X(cuStreamSynchronize) X(cuStreamWaitEvent) X(cuStreamWaitValue32_v2) X(cuStreamWriteValue32_v2)
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

constexpr std::string_view kMet = "met_";

}  // namespace

// For the torture's table of what it covers.
extern "C" std::size_t torture_states_met(torture::StateMet* states) {
  std::size_t count = 0;
  const tencache::runtime::Runtime* runtime = tencache::doors::active_runtime.load();
  const tencache::Statistics* statistics = runtime == nullptr ? nullptr : runtime->statistics();
  if (statistics == nullptr) return 0;
  for (const tencache::CounterRow& row : tencache::counter_rows()) {
    if (!std::string_view(row.name).starts_with(kMet) || count == torture::kMostStates) continue;
    states[count++] = {row.name + kMet.size(), statistics->*row.member};
  }
  return count;
}
