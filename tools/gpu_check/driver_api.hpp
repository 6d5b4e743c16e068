// The part of the CUDA driver API that gpu-check calls, declared here because the program must build on a
// machine that has a driver but no toolkit (a test compares every value with the toolkit's header). Used by
// every question. Thread rule: filled once per process, then constant. Failure rule: open() says what is
// missing; an entry point the driver lacks is null.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gpu_check {

using Status = int;  // CUresult; 0 is success
using Device = int;
using Address = unsigned long long;
using Handle = unsigned long long;  // of a physical allocation
using Context = void*;
using Stream = void*;
using Event = void*;
using Module = void*;
using Function = void*;
using Graph = void*;
using GraphExec = void*;

enum LocationType : int { kDevice = 1, kHost = 2, kHostNuma = 3 };
struct Location {
  int type;
  int id;
};
struct AllocationProperties {
  int type;
  int requested_handle_types;
  Location location;
  void* windows_meta_data;
  struct {
    unsigned char compression_type, gpu_direct_rdma_capable;
    unsigned short usage;
    unsigned char reserved[4];
  } flags;
};
struct AccessDescription {
  Location location;
  int flags;
};

inline constexpr int kPinned = 1;            // CU_MEM_ALLOCATION_TYPE_PINNED
inline constexpr int kReadWrite = 3;         // CU_MEM_ACCESS_FLAGS_PROT_READWRITE
inline constexpr int kGranularityLeast = 0;  // CU_MEM_ALLOC_GRANULARITY_MINIMUM
inline constexpr int kGranularityBest = 1;   // CU_MEM_ALLOC_GRANULARITY_RECOMMENDED
inline constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
inline constexpr unsigned kNoTiming = 2;     // CU_EVENT_DISABLE_TIMING
inline constexpr unsigned kWaitAtLeast = 0;  // CU_STREAM_WAIT_VALUE_GEQ
inline constexpr int kCaptureRelaxed = 2;    // CU_STREAM_CAPTURE_MODE_RELAXED
inline constexpr int kMultiprocessors = 16;  // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
inline constexpr int kCapabilityMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
inline constexpr int kCapabilityMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
inline constexpr int kVirtualMemory = 102;   // CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
inline constexpr int kHostNumaId = 134;      // CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID

// X(exported symbol, parameters)
#define GPU_CHECK_DRIVER_FUNCTIONS(X)                                                                        \
  X(cuInit, (unsigned))                                                                                      \
  X(cuDriverGetVersion, (int*))                                                                              \
  X(cuGetErrorName, (Status, const char**))                                                                  \
  X(cuDeviceGetCount, (int*))                                                                                \
  X(cuDeviceGet, (Device*, int))                                                                             \
  X(cuDeviceGetName, (char*, int, Device))                                                                   \
  X(cuDeviceGetAttribute, (int*, int, Device))                                                               \
  X(cuDeviceTotalMem_v2, (std::size_t*, Device))                                                             \
  X(cuDevicePrimaryCtxRetain, (Context*, Device))                                                            \
  X(cuCtxSetCurrent, (Context))                                                                              \
  X(cuCtxSynchronize, ())                                                                                    \
  X(cuMemGetInfo_v2, (std::size_t*, std::size_t*))                                                           \
  X(cuModuleLoadData, (Module*, const void*))                                                                \
  X(cuModuleGetFunction, (Function*, Module, const char*))                                                   \
  X(cuLaunchKernel, (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, \
                     void**, void**))                                                                        \
  X(cuStreamBeginCapture_v2, (Stream, int))                                                                  \
  X(cuStreamEndCapture, (Stream, Graph*))                                                                    \
  X(cuGraphInstantiateWithFlags, (GraphExec*, Graph, unsigned long long))                                    \
  X(cuGraphLaunch, (GraphExec, Stream))                                                                      \
  X(cuStreamCreate, (Stream*, unsigned))                                                                     \
  X(cuStreamDestroy_v2, (Stream))                                                                            \
  X(cuStreamSynchronize, (Stream))                                                                           \
  X(cuStreamQuery, (Stream))                                                                                 \
  X(cuStreamWaitEvent, (Stream, Event, unsigned))                                                            \
  X(cuStreamWaitValue32_v2, (Stream, Address, unsigned, unsigned))                                           \
  X(cuStreamWriteValue32_v2, (Stream, Address, unsigned, unsigned))                                          \
  X(cuLaunchHostFunc, (Stream, void (*)(void*), void*))                                                      \
  X(cuEventCreate, (Event*, unsigned))                                                                       \
  X(cuEventDestroy_v2, (Event))                                                                              \
  X(cuEventRecord, (Event, Stream))                                                                          \
  X(cuEventQuery, (Event))                                                                                   \
  X(cuMemAlloc_v2, (Address*, std::size_t))                                                                  \
  X(cuMemFree_v2, (Address))                                                                                 \
  X(cuMemHostAlloc, (void**, std::size_t, unsigned))                                                         \
  X(cuMemFreeHost, (void*))                                                                                  \
  X(cuMemAddressReserve, (Address*, std::size_t, std::size_t, Address, unsigned long long))                  \
  X(cuMemAddressFree, (Address, std::size_t))                                                                \
  X(cuMemCreate, (Handle*, std::size_t, const AllocationProperties*, unsigned long long))                    \
  X(cuMemRelease, (Handle))                                                                                  \
  X(cuMemMap, (Address, std::size_t, std::size_t, Handle, unsigned long long))                               \
  X(cuMemUnmap, (Address, std::size_t))                                                                      \
  X(cuMemSetAccess, (Address, std::size_t, const AccessDescription*, std::size_t))                           \
  X(cuMemGetAllocationGranularity, (std::size_t*, const AllocationProperties*, int))                         \
  X(cuMemcpyHtoD_v2, (Address, const void*, std::size_t))                                                    \
  X(cuMemcpyDtoH_v2, (void*, Address, std::size_t))                                                          \
  X(cuMemcpyDtoD_v2, (Address, Address, std::size_t))                                                        \
  X(cuMemcpyHtoDAsync_v2, (Address, const void*, std::size_t, Stream))                                       \
  X(cuMemcpyDtoHAsync_v2, (void*, Address, std::size_t, Stream))                                             \
  X(cuMemcpyDtoDAsync_v2, (Address, Address, std::size_t, Stream))                                           \
  X(cuMemsetD8_v2, (Address, unsigned char, std::size_t))                                                    \
  X(cuMemsetD8Async, (Address, unsigned char, std::size_t, Stream))

struct DriverApi {
#define GPU_CHECK_MEMBER(symbol, parameters) Status(*symbol) parameters = nullptr;
  GPU_CHECK_DRIVER_FUNCTIONS(GPU_CHECK_MEMBER)
#undef GPU_CHECK_MEMBER

  // Empty on success.
  std::string open(const char* library = "libcuda.so.1");
  [[nodiscard]] std::string name_of(Status status) const;
};

}  // namespace gpu_check
