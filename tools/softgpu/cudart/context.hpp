// The calling thread's device and the primary contexts. Called by device.cpp. Thread rule: the chosen device
// is the thread's; primary contexts are shared under a lock. Failure rule: the driver's code.
#pragma once

#include "tools/softgpu/cudart/entry_points.hpp"

namespace softgpu::cudart {

// The device cudaSetDevice chose for this thread.
int chosen();
// Makes the device's primary context current.
cudaError_t choose(int device);
CUresult primary_context(int device, CUcontext* context);
// Destroys the device's primary context; the next call makes a new one.
CUresult reset(int device);

}  // namespace softgpu::cudart
