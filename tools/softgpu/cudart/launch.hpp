// A launch configuration in the driver's form. Called by the launches and the occupancy calls. Thread rule:
// pure. Failure rule: cannot fail.
#pragma once

#include "tools/softgpu/cudart/call.hpp"

namespace softgpu::cudart {

inline CUlaunchConfig to_driver(const cudaLaunchConfig_t& config) {
  return {.gridDimX = config.gridDim.x,
          .gridDimY = config.gridDim.y,
          .gridDimZ = config.gridDim.z,
          .blockDimX = config.blockDim.x,
          .blockDimY = config.blockDim.y,
          .blockDimZ = config.blockDim.z,
          .sharedMemBytes = static_cast<unsigned int>(config.dynamicSmemBytes),
          .hStream = config.stream,
          .attrs = same_layout<CUlaunchAttribute>(config.attrs),
          .numAttrs = config.numAttrs};
}

}  // namespace softgpu::cudart
