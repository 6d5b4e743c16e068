// One device whose primary context's memory is managed: sizes worked out, windows reserved, vmm opened.
// Called by the runtime. Thread rule: `open` by one caller a device. Failure rule: a Status that says in one
// line why this device is left to the driver.
#pragma once

#include <memory>

#include "src/base/options.hpp"
#include "src/base/statistics.hpp"
#include "src/runtime/policy_advisor.hpp"
#include "vmm/arena.hpp"
#include "vmm/device_memory.hpp"

namespace tencache::runtime {

struct ManagedDevice {
  CUdevice device = 0;
  CUcontext context = nullptr;
  Bytes total;
  vmm::Settings settings;
  std::unique_ptr<PolicyAdvisor> advisor;
  std::unique_ptr<vmm::DeviceMemory> memory;
};

struct DeviceParts {
  const Driver* driver;
  const Clock* clock;
  Statistics* statistics;
  const Options* options;
  vmm::ReservedRange arena;  // this device's part
};

// The device's primary context is current and retained.
Result<std::unique_ptr<ManagedDevice>> open_device(const DeviceParts& parts, CUdevice device,
                                                   CUcontext context);

}  // namespace tencache::runtime
