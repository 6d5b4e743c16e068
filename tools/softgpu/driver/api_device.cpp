// cuInit and the device queries.
#include <cstdio>
#include <cstring>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/context.hpp"
#include "tools/softgpu/driver/device_attributes.hpp"

namespace softgpu::api {
namespace {

constexpr int kDriverVersion = 13000;
constexpr char kDeviceName[] = "softgpu";

CUresult check_device(CUdevice device) {
  SOFTGPU_TRY(check_initialised());
  return device >= 0 && static_cast<std::size_t>(device) < machine().devices.size()
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_DEVICE;
}

}  // namespace

CUresult cuInit(unsigned int Flags) {
  if (Flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return settings().devices == 0 ? CUDA_ERROR_NO_DEVICE : initialise();
}

CUresult cuDriverGetVersion(int* driverVersion) {
  if (driverVersion == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *driverVersion = kDriverVersion;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  SOFTGPU_TRY(check_device(ordinal));
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  SOFTGPU_TRY(check_initialised());
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(machine().devices.size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int len, CUdevice dev) {
  SOFTGPU_TRY(check_device(dev));
  if (name == nullptr || len <= 0) return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(name, static_cast<std::size_t>(len), "%s", kDeviceName);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice dev) {
  SOFTGPU_TRY(check_device(dev));
  if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::memset(uuid->bytes, 0, sizeof(uuid->bytes));
  std::memcpy(uuid->bytes, kDeviceName, sizeof(kDeviceName));
  uuid->bytes[15] = static_cast<char>(dev);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice dev) { return api::cuDeviceGetUuid_v2(uuid, dev); }

CUresult cuDeviceGetLuid(char* luid, unsigned int* deviceNodeMask, CUdevice dev) {
  SOFTGPU_TRY(check_device(dev));
  return luid == nullptr || deviceNodeMask == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice dev) {
  SOFTGPU_TRY(check_device(dev));
  if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *bytes = machine().device(dev).hbm.total();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* pi, CUdevice_attribute attrib, CUdevice dev) {
  SOFTGPU_TRY(check_device(dev));
  if (pi == nullptr || attrib <= 0 || attrib >= CU_DEVICE_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
  *pi = device_attribute(dev, attrib);
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice dev) {
  SOFTGPU_TRY(check_device(dev));
  if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *major = kComputeCapabilityMajor;
  *minor = kComputeCapabilityMinor;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetProperties(CUdevprop* prop, CUdevice dev) {
  SOFTGPU_TRY(check_device(dev));
  if (prop == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto ask = [dev](CUdevice_attribute attribute) { return device_attribute(dev, attribute); };
  *prop = {};
  prop->maxThreadsPerBlock = ask(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  prop->maxThreadsDim[0] = ask(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
  prop->maxThreadsDim[1] = ask(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
  prop->maxThreadsDim[2] = ask(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
  prop->maxGridSize[0] = ask(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
  prop->maxGridSize[1] = ask(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
  prop->maxGridSize[2] = ask(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
  prop->sharedMemPerBlock = ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  prop->totalConstantMemory = ask(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
  prop->SIMDWidth = ask(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  prop->memPitch = ask(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
  prop->regsPerBlock = ask(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  prop->clockRate = ask(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  prop->textureAlign = ask(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* pciBusId, int len, CUdevice dev) {
  SOFTGPU_TRY(check_device(dev));
  if (pciBusId == nullptr || len < 13) return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(pciBusId, static_cast<std::size_t>(len), "0000:01:%02x.0", static_cast<unsigned>(dev));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice* dev, const char* pciBusId) {
  SOFTGPU_TRY(check_initialised());
  if (dev == nullptr || pciBusId == nullptr) return CUDA_ERROR_INVALID_VALUE;
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned number = 0;
  if (std::sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &number) != 3 || bus != 1)
    return CUDA_ERROR_INVALID_DEVICE;
  SOFTGPU_TRY(check_device(static_cast<CUdevice>(number)));
  *dev = static_cast<CUdevice>(number);
  return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int* canAccessPeer, CUdevice dev, CUdevice peerDev) {
  SOFTGPU_TRY(check_device(dev));
  SOFTGPU_TRY(check_device(peerDev));
  if (canAccessPeer == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *canAccessPeer = 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute, CUdevice srcDevice, CUdevice dstDevice) {
  SOFTGPU_TRY(check_device(srcDevice));
  SOFTGPU_TRY(check_device(dstDevice));
  if (value == nullptr || srcDevice == dstDevice) return CUDA_ERROR_INVALID_VALUE;
  *value = 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(std::size_t* maxWidthInElements, CUarray_format, unsigned int,
                                            CUdevice dev) {
  SOFTGPU_TRY(check_device(dev));
  if (maxWidthInElements == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *maxWidthInElements = 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetExecAffinitySupport(int* pi, CUexecAffinityType, CUdevice dev) {
  SOFTGPU_TRY(check_device(dev));
  if (pi == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *pi = 0;
  return CUDA_SUCCESS;
}

}  // namespace softgpu::api
