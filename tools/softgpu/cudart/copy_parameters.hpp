// The runtime's copies in the driver's form. Called by the pitched copies and the graphs' copy nodes. Thread
// rule: pure. Failure rule: CUDA_ERROR_NOT_SUPPORTED for arrays, which this device has none of.
#pragma once

#include "tools/softgpu/cudart/call.hpp"

namespace softgpu::cudart {

CUDA_MEMCPY2D copy_2d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                      size_t height, cudaMemcpyKind kind);

CUresult copy_3d(const cudaMemcpy3DParms& parameters, CUDA_MEMCPY3D* copy);

}  // namespace softgpu::cudart
