// The driver as a program finds it, asked through its documented entry points only. Made once by `tencache
// doctor`. Thread rule: one thread. Failure rule: `error` says what stopped the probe; what was found until
// then stays.
#pragma once

#include <cuda.h>

#include <string>
#include <vector>

#include "src/base/units.hpp"

namespace tencache::doctor {

struct HostBlockProbe {
  std::string location;  // "HOST" or "HOST_NUMA 0"
  bool usable = false;
  std::string failed_at;  // the call that refused, with its error
};

struct DriverProbe {
  std::string path;      // the file that libcuda.so.1 resolved to; empty: none
  std::string error;     // empty: a device answered
  int cuda_version = 0;  // as cuDriverGetVersion says it: 12040 is 12.4
  bool has_parameter_info = false;
  std::string device_name;
  Bytes device_memory;
  bool vmm = false;
  bool kernel_time_limit = false;
  int host_node = -1;  // the device's NUMA node; -1: not known
  std::vector<HostBlockProbe> host_blocks;
};

[[nodiscard]] DriverProbe probe_driver();

}  // namespace tencache::doctor
