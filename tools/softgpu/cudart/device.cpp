// Devices: choosing, asking, limits, peers, versions.
#include <cuda_profiler_api.h>

#include "tools/softgpu/cudart/call.hpp"
#include "tools/softgpu/cudart/context.hpp"

using namespace softgpu::cudart;

cudaError_t cudaGetDeviceCount(int* count) {
  const cudaError_t error = in_driver([&] { return driver.cuDeviceGetCount(count); });
  if (error != cudaSuccess) *count = 0;
  return error == cudaSuccess && *count == 0 ? remember(cudaErrorNoDevice) : error;
}

cudaError_t cudaSetDevice(int device) {
  return in_driver([&] { return choose(device); });
}

cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) {
  return in_driver([&] {
    CUcontext context = nullptr;
    return primary_context(device, &context);
  });
}

cudaError_t cudaGetDevice(int* device) {
  return in_driver([&] {
    CUcontext current = nullptr;
    const CUresult result = driver.cuCtxGetCurrent(&current);
    if (result == CUDA_SUCCESS && current != nullptr) return driver.cuCtxGetDevice(device);
    *device = chosen();
    return result;
  });
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return in_driver([&] { return count > 0 ? choose(devices[0]) : cudaSuccess; });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {
  return in_driver([&] {
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  return in_driver([&] { return driver.cuDevicePrimaryCtxSetFlags(chosen(), flags & cudaDeviceMask); });
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  return in_context([&] { return driver.cuCtxGetFlags(flags); });
}

cudaError_t cudaDeviceReset() {
  return in_driver([&] {
    int device = 0;
    const cudaError_t error = cudaGetDevice(&device);
    return error == cudaSuccess ? to_runtime(reset(device)) : error;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return in_context([] { return driver.cuCtxSynchronize(); });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return in_driver(
      [&] { return driver.cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(attribute), device); });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return in_context([&] { return driver.cuCtxGetLimit(value, static_cast<CUlimit>(limit)); });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return in_context([&] { return driver.cuCtxSetLimit(static_cast<CUlimit>(limit), value); });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return in_context([&] { return driver.cuCtxGetCacheConfig(same_layout<CUfunc_cache>(config)); });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return in_context([&] { return driver.cuCtxSetCacheConfig(static_cast<CUfunc_cache>(config)); });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return in_context([&] { return driver.cuCtxGetStreamPriorityRange(least, greatest); });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return in_context([] { return driver.cuCtxResetPersistingL2Cache(); });
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  return in_driver([&] { return driver.cuDeviceGetPCIBusId(id, length, device); });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  return in_driver([&] { return driver.cuDeviceGetByPCIBusId(device, id); });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return in_driver([&] { return driver.cuDeviceCanAccessPeer(can, device, peer); });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int source, int destination) {
  return in_driver([&] {
    return driver.cuDeviceGetP2PAttribute(value, static_cast<CUdevice_P2PAttribute>(attribute), source,
                                          destination);
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return in_context([&] {
    CUcontext context = nullptr;
    const CUresult result = primary_context(peer, &context);
    return result == CUDA_SUCCESS ? driver.cuCtxEnablePeerAccess(context, flags) : result;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return in_context([&] {
    CUcontext context = nullptr;
    const CUresult result = primary_context(peer, &context);
    return result == CUDA_SUCCESS ? driver.cuCtxDisablePeerAccess(context) : result;
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  const cudaError_t error = in_driver([&] { return driver.cuDriverGetVersion(version); });
  if (error != cudaErrorInsufficientDriver) return error;
  *version = 0;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

// A profiler is no part of this device; starting and stopping it is allowed without one.
cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }
