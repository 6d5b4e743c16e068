// The driver entry points the runtime uses, found as the genuine runtime finds them: dlopen("libcuda.so.1"),
// dlsym("cuGetProcAddress_v2"), then one question per row; a row of the stream table is asked for twice, with
// the legacy and with the per-thread default stream. Called by every file here. Thread rule: loaded once, by
// the first call of any thread, then constant. Failure rule: a name that the driver lacks becomes a function
// that says so and returns CUDA_ERROR_NOT_SUPPORTED.
//
// Files in stream/ are compiled twice. With CUDA_API_PER_THREAD_DEFAULT_STREAM the toolkit's headers rename
// what they define and call to the _ptsz and _ptds twins, so the members below are renamed along with them.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <cstddef>

// X(name, the CUDA version whose form of it is meant, as in cudaTypedefs.h)
// clang-format off
#define CUDART_PLAIN_ENTRY_POINTS(X) \
  X(cuInit, 2000) \
  X(cuDriverGetVersion, 2020) \
  X(cuDeviceGetCount, 2000) \
  X(cuDeviceGetName, 2000) \
  X(cuDeviceGetUuid, 11040) \
  X(cuDeviceTotalMem, 3020) \
  X(cuDeviceGetAttribute, 2000) \
  X(cuDeviceGetPCIBusId, 4010) \
  X(cuDeviceGetByPCIBusId, 4010) \
  X(cuDeviceCanAccessPeer, 4000) \
  X(cuDeviceGetP2PAttribute, 8000) \
  X(cuCtxEnablePeerAccess, 4000) \
  X(cuCtxDisablePeerAccess, 4000) \
  X(cuDevicePrimaryCtxRetain, 7000) \
  X(cuDevicePrimaryCtxReset, 11000) \
  X(cuDevicePrimaryCtxSetFlags, 11000) \
  X(cuCtxGetCurrent, 4000) \
  X(cuCtxSetCurrent, 4000) \
  X(cuCtxGetDevice, 2000) \
  X(cuCtxGetFlags, 7000) \
  X(cuCtxSynchronize, 2000) \
  X(cuCtxGetLimit, 3010) \
  X(cuCtxSetLimit, 3010) \
  X(cuCtxGetCacheConfig, 3020) \
  X(cuCtxSetCacheConfig, 3020) \
  X(cuCtxGetStreamPriorityRange, 5050) \
  X(cuCtxResetPersistingL2Cache, 11000) \
  X(cuStreamCreate, 2000) \
  X(cuStreamCreateWithPriority, 5050) \
  X(cuStreamDestroy, 4000) \
  X(cuThreadExchangeStreamCaptureMode, 10010) \
  X(cuEventCreate, 2000) \
  X(cuEventDestroy, 4000) \
  X(cuEventQuery, 2000) \
  X(cuEventSynchronize, 2000) \
  X(cuEventElapsedTime, 12080) \
  X(cuMemAlloc, 3020) \
  X(cuMemAllocPitch, 3020) \
  X(cuMemAllocManaged, 6000) \
  X(cuMemFree, 3020) \
  X(cuMemGetInfo, 3020) \
  X(cuMemHostAlloc, 2020) \
  X(cuMemFreeHost, 2000) \
  X(cuMemHostRegister, 6050) \
  X(cuMemHostUnregister, 4000) \
  X(cuMemHostGetDevicePointer, 3020) \
  X(cuMemHostGetFlags, 2030) \
  X(cuPointerGetAttributes, 7000) \
  X(cuMemAdvise, 12020) \
  X(cuMemRangeGetAttribute, 8000) \
  X(cuMemRangeGetAttributes, 8000) \
  X(cuDeviceGetDefaultMemPool, 11020) \
  X(cuDeviceGetMemPool, 11020) \
  X(cuDeviceSetMemPool, 11020) \
  X(cuMemPoolCreate, 11020) \
  X(cuMemPoolDestroy, 11020) \
  X(cuMemPoolGetAttribute, 11020) \
  X(cuMemPoolSetAttribute, 11020) \
  X(cuMemPoolGetAccess, 11020) \
  X(cuMemPoolSetAccess, 11020) \
  X(cuMemPoolTrimTo, 11020) \
  X(cuLibraryLoadData, 12000) \
  X(cuLibraryLoadFromFile, 12000) \
  X(cuLibraryUnload, 12000) \
  X(cuLibraryGetKernel, 12000) \
  X(cuLibraryGetGlobal, 12000) \
  X(cuLibraryGetManaged, 12000) \
  X(cuLibraryGetKernelCount, 12040) \
  X(cuLibraryEnumerateKernels, 12040) \
  X(cuLibraryGetUnifiedFunction, 12000) \
  X(cuKernelGetFunction, 12000) \
  X(cuKernelSetAttribute, 12000) \
  X(cuFuncGetAttribute, 2020) \
  X(cuFuncSetAttribute, 9000) \
  X(cuFuncSetCacheConfig, 3000) \
  X(cuFuncGetName, 12030) \
  X(cuFuncGetParamInfo, 12040) \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000) \
  X(cuOccupancyAvailableDynamicSMemPerBlock, 10020) \
  X(cuOccupancyMaxPotentialClusterSize, 11070) \
  X(cuOccupancyMaxActiveClusters, 11070) \
  X(cuGraphCreate, 10000) \
  X(cuGraphDestroy, 10000) \
  X(cuGraphClone, 10000) \
  X(cuGraphInstantiateWithFlags, 11040) \
  X(cuGraphExecDestroy, 10000) \
  X(cuGraphExecGetFlags, 12000) \
  X(cuGraphExecUpdate, 12000) \
  X(cuGraphDebugDotPrint, 11030) \
  X(cuGraphAddKernelNode, 12000) \
  X(cuGraphKernelNodeSetParams, 12000) \
  X(cuGraphExecKernelNodeSetParams, 12000) \
  X(cuGraphAddMemcpyNode, 10000) \
  X(cuGraphMemcpyNodeSetParams, 10000) \
  X(cuGraphExecMemcpyNodeSetParams, 10020) \
  X(cuGraphAddMemsetNode, 10000) \
  X(cuGraphMemsetNodeGetParams, 10000) \
  X(cuGraphMemsetNodeSetParams, 10000) \
  X(cuGraphExecMemsetNodeSetParams, 10020) \
  X(cuGraphAddHostNode, 10000) \
  X(cuGraphHostNodeGetParams, 10000) \
  X(cuGraphHostNodeSetParams, 10000) \
  X(cuGraphExecHostNodeSetParams, 10020) \
  X(cuGraphAddChildGraphNode, 10000) \
  X(cuGraphChildGraphNodeGetGraph, 10000) \
  X(cuGraphAddEmptyNode, 10000) \
  X(cuGraphAddEventRecordNode, 11010) \
  X(cuGraphAddEventWaitNode, 11010) \
  X(cuGraphAddMemAllocNode, 11040) \
  X(cuGraphAddMemFreeNode, 11040) \
  X(cuGraphEventRecordNodeGetEvent, 11010) \
  X(cuGraphEventRecordNodeSetEvent, 11010) \
  X(cuGraphEventWaitNodeGetEvent, 11010) \
  X(cuGraphEventWaitNodeSetEvent, 11010) \
  X(cuGraphExecEventRecordNodeSetEvent, 11010) \
  X(cuGraphExecEventWaitNodeSetEvent, 11010) \
  X(cuGraphMemAllocNodeGetParams, 11040) \
  X(cuGraphMemFreeNodeGetParams, 11040) \
  X(cuGraphGetNodes, 10000) \
  X(cuGraphGetRootNodes, 10000) \
  X(cuGraphGetEdges, 12030) \
  X(cuGraphNodeGetType, 10000) \
  X(cuGraphNodeGetDependencies, 12030) \
  X(cuGraphNodeGetDependentNodes, 12030) \
  X(cuGraphAddDependencies, 12030) \
  X(cuGraphRemoveDependencies, 12030) \
  X(cuGraphDestroyNode, 10000) \
  X(cuGraphNodeFindInClone, 10000) \
  X(cuGraphNodeSetEnabled, 11060) \
  X(cuGraphNodeGetEnabled, 11060) \
  X(cuDeviceGraphMemTrim, 11040) \
  X(cuDeviceGetGraphMemAttribute, 11040) \
  X(cuDeviceSetGraphMemAttribute, 11040) \
  X(cuUserObjectCreate, 11030) \
  X(cuUserObjectRetain, 11030) \
  X(cuUserObjectRelease, 11030) \
  X(cuGraphRetainUserObject, 11030) \
  X(cuGraphReleaseUserObject, 11030)

#define CUDART_STREAM_ENTRY_POINTS(X) \
  X(cuMemcpy, 4000) \
  X(cuMemcpyHtoD, 3020) \
  X(cuMemcpyDtoH, 3020) \
  X(cuMemcpyDtoD, 3020) \
  X(cuMemcpyAsync, 4000) \
  X(cuMemcpyHtoDAsync, 3020) \
  X(cuMemcpyDtoHAsync, 3020) \
  X(cuMemcpyDtoDAsync, 3020) \
  X(cuMemcpy2DUnaligned, 3020) \
  X(cuMemcpy2DAsync, 3020) \
  X(cuMemcpy3D, 3020) \
  X(cuMemcpy3DAsync, 3020) \
  X(cuMemcpyPeer, 4000) \
  X(cuMemcpyPeerAsync, 4000) \
  X(cuMemsetD8, 3020) \
  X(cuMemsetD2D8, 3020) \
  X(cuMemsetD8Async, 3020) \
  X(cuMemsetD2D8Async, 3020) \
  X(cuStreamSynchronize, 2000) \
  X(cuStreamQuery, 2000) \
  X(cuStreamWaitEvent, 3020) \
  X(cuStreamGetFlags, 5050) \
  X(cuStreamGetPriority, 5050) \
  X(cuStreamGetId, 12000) \
  X(cuStreamGetDevice, 12080) \
  X(cuStreamAddCallback, 5000) \
  X(cuStreamAttachMemAsync, 6000) \
  X(cuStreamCopyAttributes, 11000) \
  X(cuStreamGetAttribute, 11000) \
  X(cuStreamSetAttribute, 11000) \
  X(cuEventRecord, 2000) \
  X(cuEventRecordWithFlags, 11010) \
  X(cuLaunchKernel, 4000) \
  X(cuLaunchKernelEx, 11060) \
  X(cuLaunchCooperativeKernel, 9000) \
  X(cuLaunchHostFunc, 10000) \
  X(cuMemAllocAsync, 11020) \
  X(cuMemAllocFromPoolAsync, 11020) \
  X(cuMemFreeAsync, 11020) \
  X(cuMemPrefetchAsync, 12020) \
  X(cuStreamBeginCapture, 10010) \
  X(cuStreamBeginCaptureToGraph, 12030) \
  X(cuStreamEndCapture, 10000) \
  X(cuStreamIsCapturing, 10000) \
  X(cuStreamGetCaptureInfo, 12030) \
  X(cuStreamUpdateCaptureDependencies, 12030) \
  X(cuGraphInstantiateWithParams, 12000) \
  X(cuGraphUpload, 11010) \
  X(cuGraphLaunch, 10000)
// clang-format on

namespace softgpu::cudart {

#define CUDART_MEMBER(name, version) PFN_##name##_v##version name = nullptr;

struct PlainEntryPoints {
  CUDART_PLAIN_ENTRY_POINTS(CUDART_MEMBER)
  PFN_cuGetProcAddress_v12000 get_proc_address = nullptr;
};

extern PlainEntryPoints driver;

#if defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)
inline namespace per_thread {
inline constexpr CUdriverProcAddress_flags kStreamFlag = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
#else
inline namespace legacy {
inline constexpr CUdriverProcAddress_flags kStreamFlag = CU_GET_PROC_ADDRESS_DEFAULT;
#endif
struct StreamEntryPoints {
  CUDART_STREAM_ENTRY_POINTS(CUDART_MEMBER)
};

extern StreamEntryPoints on_stream;
void load_stream_entry_points();
}  // namespace per_thread or legacy

#undef CUDART_MEMBER

// A row of a table as it is loaded: what to ask for, where the answer goes, and what refuses in its place.
struct EntryPointRow {
  const char* name;
  int version;
  void* member;  // a function pointer of the row's own type
  CUresult (*refuse)();
};
void load_rows(const EntryPointRow* rows, std::size_t count, CUdriverProcAddress_flags flag);

// The answer of a missing entry point: says its name and refuses.
CUresult refuse_missing(const char* name);

// Loads both tables. cudaErrorInsufficientDriver without a driver library.
cudaError_t load_driver();

}  // namespace softgpu::cudart
