// What host calls cost on a real driver, spent on the calling thread where SOFTGPU_CALL_COSTS=real. Called by
// the launch, event and mapping entry points. Thread rule: any thread. Failure rule: nothing fails.
#pragma once

#include <cstdint>
#include <mutex>

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

// For a mapping call, which holds the driver's lock for as long as it takes.
[[nodiscard]] std::unique_lock<std::mutex> hold_call_lock(CallCost cost);
// For a launch, copy or record, which only passes through that lock.
void pass_call_lock(CallCost cost);

}  // namespace softgpu
