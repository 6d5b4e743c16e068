// What host calls cost on a real driver, spent on the calling thread where SOFTGPU_CALL_COSTS=real. Called by
// the launch, event and mapping entry points. Thread rule: any thread. Failure rule: nothing fails.
#pragma once

#include <cstdint>

#include "tools/softgpu/device/machine.hpp"

namespace softgpu {

enum class CallCost : std::uint8_t {
  kLaunch,
  kEventRecord,
  kCreate,
  kMap,
  kSetAccess,
  kUnmap,
  kRelease,
  kReserve
};

// Called with the device's call lock held: mapping calls and launches wait for each other in the driver.
// `units` is how many blocks the call is about.
void spend_call(CallCost cost, std::uint64_t units = 1);

// Passes through the lock that mapping calls hold, spending what a launch costs.
void pass_call_lock(Device& device, CallCost cost);

}  // namespace softgpu
