// How the API's copies become one plan of rows and planes, and whether the driver takes it. Called by the
// copy and graph entry points. Thread rule: any thread. Failure rule: CUresult.
#pragma once

#include <cuda.h>

#include "tools/softgpu/driver/graph.hpp"

namespace softgpu {

// What a call says its address is; kEither is for the driver to find out.
enum class Claim : std::uint8_t { kHost, kDevice, kEither };
struct Claims {
  Claim to = Claim::kEither, from = Claim::kEither;
};

CUresult plan_copy(const CUDA_MEMCPY2D& copy, CopyPlan* plan, Claims* claims);
CUresult plan_copy(const CUDA_MEMCPY3D& copy, CopyPlan* plan, Claims* claims);
CUresult plan_copy(const CUDA_MEMCPY3D_PEER& copy, CopyPlan* plan, Claims* claims);
// Where its addresses lie now, and whether that is what the call said.
CUresult judge_copy(const Claims& claims, CopyPlan* plan);
// The plan as the API says it.
CUDA_MEMCPY3D describe_copy(const CopyPlan& plan);

// A memset's plan, and whether the driver takes it; `place` may be null.
CUresult judge_fill(const FillPlan& plan, Place* place);

}  // namespace softgpu
