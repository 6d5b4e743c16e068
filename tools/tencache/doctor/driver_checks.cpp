#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "src/base/value_text.hpp"
#include "tools/tencache/doctor/check.hpp"

namespace tencache::doctor {
namespace {

constexpr int kLeastCudaVersion = 12040;

std::string rounded(Bytes bytes) {
  std::array<char, 32> buffer;
  TextWriter out(buffer);
  print_rounded(bytes, out);
  return std::string(out.view());
}

Finding driver_library(const DriverProbe& driver) {
  if (!driver.path.empty()) return {Level::kOk, driver.path, ""};
  return {Level::kFail, driver.error,
          "install NVIDIA's driver, or name its library in TENCACHE_REAL_LIBCUDA"};
}

// For what can only be asked of a device that answers; the check `device` says what to do.
const Finding kNotAsked{Level::kFail, "not known", ""};

Finding driver_version(const DriverProbe& driver) {
  if (driver.cuda_version == 0) return kNotAsked;
  const std::string version =
      fmt::format("CUDA {}.{}", driver.cuda_version / 1000, driver.cuda_version % 1000 / 10);
  if (driver.cuda_version >= kLeastCudaVersion && driver.has_parameter_info) return {Level::kOk, version, ""};
  return {Level::kFail, version + ", which cannot describe kernel parameters", "install driver 550 or newer"};
}

Finding device(const DriverProbe& driver) {
  if (!driver.error.empty())
    return {Level::kFail, driver.error, "check that nvidia-smi shows a device and that this user may use it"};
  return {Level::kOk, fmt::format("{}, {}", driver.device_name, rounded(driver.device_memory)), ""};
}

Finding virtual_memory(const DriverProbe& driver) {
  if (!driver.error.empty()) return kNotAsked;
  if (driver.vmm) return {Level::kOk, "the device supports virtual memory management", ""};
  return {Level::kFail, "no virtual memory management",
          "run where the device is not a vGPU; tencache stays inert here"};
}

Finding host_blocks(const DriverProbe& driver) {
  if (driver.host_blocks.empty()) return kNotAsked;
  std::string detail;
  for (const HostBlockProbe& probe : driver.host_blocks)
    detail += fmt::format("{}{} {}", detail.empty() ? "" : "; ", probe.location,
                          probe.usable ? "works" : probe.failed_at);
  const bool usable = std::any_of(driver.host_blocks.begin(), driver.host_blocks.end(),
                                  [](const HostBlockProbe& probe) { return probe.usable; });
  if (usable) return {Level::kOk, detail, ""};
  return {Level::kFail, detail,
          "a newer driver may give host blocks; without them only TENCACHE_DETACHED=on can oversubscribe"};
}

Finding kernel_time_limit(const DriverProbe& driver) {
  if (!driver.error.empty()) return kNotAsked;
  if (!driver.kernel_time_limit) return {Level::kOk, "none", ""};
  return {Level::kWarn, "kernels that run for seconds are ended, as the device has a display",
          "use a device without a display; here no kernel is run from host memory"};
}

constexpr Check kChecks[] = {
    {"driver library", driver_library},
    {"driver version", driver_version},
    {"device", device},
    {"virtual memory", virtual_memory},
    {"host blocks", host_blocks},
    {"kernel time limit", kernel_time_limit},
};

}  // namespace

std::span<const Check> driver_checks() { return kChecks; }

}  // namespace tencache::doctor
