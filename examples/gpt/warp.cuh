// Sums and maxima over a warp, in a fixed order. Called by the kernels that give a row to a warp. Thread
// rule: all 32 lanes call. Failure rule: cannot fail.
#pragma once

namespace gpt {

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffU;

__device__ inline float warp_sum(float value) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, distance);
  }
  return value;
}

__device__ inline float warp_max(float value) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, distance));
  }
  return value;
}

}  // namespace gpt
