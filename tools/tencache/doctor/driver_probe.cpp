#include "tools/tencache/doctor/driver_probe.hpp"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "src/driver/driver.hpp"

namespace tencache::doctor {
namespace {

// The genuine entry points as a program would get them, and the probe being filled.
struct Prober {
  void* library = nullptr;
  Driver driver;
  DriverProbe probe;
  CUdevice device = 0;

  bool succeeded(const char* call, CUresult result) {
    if (result == CUDA_SUCCESS) return true;
    probe.error = describe(call, result);
    return false;
  }
  int attribute(CUdevice_attribute which, int unknown) const {
    int value = 0;
    return driver.cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : unknown;
  }
  std::string describe(const char* call, CUresult result) const {
    const char* name = nullptr;
    if (driver.cuGetErrorName != nullptr) driver.cuGetErrorName(result, &name);
    return fmt::format("{}: {}", call, name == nullptr ? "unknown error" : name);
  }
};

bool open_library(Prober* prober) {
  const char* chosen = getenv("TENCACHE_REAL_LIBCUDA");
  prober->library =
      dlopen(chosen != nullptr && chosen[0] != '\0' ? chosen : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (prober->library == nullptr) {
    prober->probe.error = dlerror();
    return false;
  }
  const char* missing =
      prober->driver.fill([&](const char* symbol) { return dlsym(prober->library, symbol); });
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(prober->driver.cuInit), &info) != 0) {
    std::error_code failed;
    const std::filesystem::path real = std::filesystem::canonical(info.dli_fname, failed);
    prober->probe.path = failed ? info.dli_fname : real.string();
  }
  if (missing != nullptr) prober->probe.error = fmt::format("the driver has no {}", missing);
  return missing == nullptr;
}

bool ask_device(Prober* prober) {
  const Driver& driver = prober->driver;
  DriverProbe& probe = prober->probe;
  (void)driver.cuDriverGetVersion(&probe.cuda_version);
  probe.has_parameter_info = driver.cuFuncGetParamInfo != nullptr;
  if (!prober->succeeded("cuInit", driver.cuInit(0))) return false;
  if (!prober->succeeded("cuDeviceGet", driver.cuDeviceGet(&prober->device, 0))) return false;
  std::size_t total = 0;
  if (!prober->succeeded("cuDeviceTotalMem", driver.cuDeviceTotalMem_v2(&total, prober->device)))
    return false;
  probe.device_memory = Bytes(total);
  probe.vmm = prober->attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0) != 0;
  probe.kernel_time_limit = prober->attribute(CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, 0) != 0;
  probe.host_node = prober->attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, -1);
  return true;
}

void ask_name(Prober* prober) {
  std::array<char, 128> text{};
  const auto get_name =
      reinterpret_cast<decltype(&cuDeviceGetName)>(dlsym(prober->library, "cuDeviceGetName"));
  if (get_name != nullptr && get_name(text.data(), text.size(), prober->device) == CUDA_SUCCESS)
    prober->probe.device_name = text.data();
}

// One block of the device's granularity in that place: made, mapped, made accessible and touched.
struct BlockTrial {
  const Prober& prober;
  CUmemAllocationProp properties{};
  std::size_t size = 0;
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr address = 0;
  bool created = false, mapped = false;

  // Empty when all of it worked.
  std::string failed_at() {
    const Driver& driver = prober.driver;
    CUmemAllocationProp on_device{};
    on_device.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    on_device.location = {CU_MEM_LOCATION_TYPE_DEVICE, {prober.device}};
    const CUmemAccessDesc access{on_device.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUresult result =
        driver.cuMemGetAllocationGranularity(&size, &on_device, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    if (result != CUDA_SUCCESS) return prober.describe("cuMemGetAllocationGranularity", result);
    result = driver.cuMemCreate(&handle, size, &properties, 0);
    created = result == CUDA_SUCCESS;
    if (!created) return prober.describe("cuMemCreate", result);
    result = driver.cuMemAddressReserve(&address, size, 0, 0, 0);
    if (result != CUDA_SUCCESS) return prober.describe("cuMemAddressReserve", result);
    result = driver.cuMemMap(address, size, 0, handle, 0);
    mapped = result == CUDA_SUCCESS;
    if (!mapped) return prober.describe("cuMemMap", result);
    result = driver.cuMemSetAccess(address, size, &access, 1);
    if (result != CUDA_SUCCESS) return prober.describe("cuMemSetAccess", result);
    result = driver.cuMemsetD8_v2(address, 0x5a, size);
    if (result == CUDA_SUCCESS) result = driver.cuCtxSynchronize();
    return result == CUDA_SUCCESS ? "" : prober.describe("cuMemsetD8", result);
  }
  void undo() const {
    if (mapped) (void)prober.driver.cuMemUnmap(address, size);
    if (address != 0) (void)prober.driver.cuMemAddressFree(address, size);
    if (created) (void)prober.driver.cuMemRelease(handle);
  }
};

HostBlockProbe try_host_block(const Prober& prober, CUmemLocationType type, int node) {
  HostBlockProbe result;
  result.location = type == CU_MEM_LOCATION_TYPE_HOST ? "HOST" : fmt::format("HOST_NUMA {}", node);
  BlockTrial trial{prober};
  trial.properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  trial.properties.location.type = type;
  trial.properties.location.id = node;
  result.failed_at = trial.failed_at();
  result.usable = result.failed_at.empty();
  trial.undo();
  return result;
}

void ask_host_blocks(Prober* prober) {
  CUcontext context = nullptr;
  if (!prober->succeeded("cuDevicePrimaryCtxRetain",
                         prober->driver.cuDevicePrimaryCtxRetain(&context, prober->device)))
    return;
  (void)prober->driver.cuCtxSetCurrent(context);
  prober->probe.host_blocks.push_back(try_host_block(*prober, CU_MEM_LOCATION_TYPE_HOST, 0));
  const int node = std::max(prober->probe.host_node, 0);
  prober->probe.host_blocks.push_back(try_host_block(*prober, CU_MEM_LOCATION_TYPE_HOST_NUMA, node));
  (void)prober->driver.cuDevicePrimaryCtxRelease_v2(prober->device);
}

}  // namespace

DriverProbe probe_driver() {
  Prober prober;
  if (open_library(&prober) && ask_device(&prober)) {
    ask_name(&prober);
    if (prober.probe.vmm) ask_host_blocks(&prober);
  }
  return prober.probe;
}

}  // namespace tencache::doctor
