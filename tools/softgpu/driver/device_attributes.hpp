// Device attributes. Called by the device and occupancy entry points. Thread rule: stateless. Failure rule:
// what the device does not have is 0.
#pragma once

#include <cuda.h>

namespace softgpu {

inline constexpr int kComputeCapabilityMajor = 8;
inline constexpr int kComputeCapabilityMinor = 0;

int device_attribute(int device, CUdevice_attribute attribute);

}  // namespace softgpu
