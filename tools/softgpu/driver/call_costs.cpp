#include "tools/softgpu/driver/call_costs.hpp"

#include <mutex>

#include "tools/softgpu/device/clock.hpp"

namespace softgpu {
namespace {

// Nanoseconds; those of the mapping calls are for one 2 MiB block.
constexpr std::uint64_t kCosts[] = {
    2'000,    // kLaunch
    500,      // kEventRecord
    193'000,  // kCreate
    1'500,    // kMap
    36'000,   // kSetAccess
    26'000,   // kUnmap
    10'000,   // kRelease
    2'000,    // kReserve
};

bool is_real() {
  static const bool real = settings().call_costs == "real";
  return real;
}

}  // namespace

void spend_call(CallCost cost, std::uint64_t units) {
  if (is_real()) spend_ns(kCosts[static_cast<std::size_t>(cost)] * units);
}

void pass_call_lock(Device& device, CallCost cost) {
  const std::lock_guard lock(device.call_lock);
  spend_call(cost);
}

}  // namespace softgpu
