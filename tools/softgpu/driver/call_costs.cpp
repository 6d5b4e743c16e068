#include "tools/softgpu/driver/call_costs.hpp"

#include "tools/softgpu/device/clock.hpp"
#include "tools/softgpu/device/machine.hpp"

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

void spend(CallCost cost) {
  if (is_real()) spend_ns(kCosts[static_cast<std::size_t>(cost)]);
}

}  // namespace

std::unique_lock<std::mutex> hold_call_lock(CallCost cost) {
  std::unique_lock lock(machine().call_lock);
  spend(cost);
  return lock;
}

void pass_call_lock(CallCost cost) { hold_call_lock(cost).unlock(); }

}  // namespace softgpu
