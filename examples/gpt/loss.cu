#include "examples/common/check.hpp"
#include "examples/gpt/kernels.hpp"
#include "examples/gpt/warp.cuh"

namespace gpt {
namespace {

constexpr int kWarps = 4;  // rows a block takes

__global__ void cross_entropy_kernel(float* losses, float* d_logits, const float* logits, const int* targets,
                                     int rows, int vocabulary) {
  const int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= rows) return;
  logits += row * vocabulary;
  d_logits += row * vocabulary;
  float largest = -INFINITY;
  for (int i = threadIdx.x; i < vocabulary; i += kWarp) largest = fmaxf(largest, logits[i]);
  largest = warp_max(largest);
  float sum = 0.0F;
  for (int i = threadIdx.x; i < vocabulary; i += kWarp) sum += expf(logits[i] - largest);
  sum = warp_sum(sum);
  const int target = targets[row];
  for (int i = threadIdx.x; i < vocabulary; i += kWarp) {
    const float probability = expf(logits[i] - largest) / sum;
    d_logits[i] = (probability - (i == target ? 1.0F : 0.0F)) / rows;
  }
  if (threadIdx.x == 0) losses[row] = logf(sum) + largest - logits[target];
}

__global__ void mean_kernel(float* out, const float* values, int count) {
  float sum = 0.0F;
  for (int i = threadIdx.x; i < count; i += kWarp) sum += values[i];
  sum = warp_sum(sum);
  if (threadIdx.x == 0) *out = sum / count;
}

}  // namespace

void cross_entropy(float* losses, float* d_logits, const float* logits, const int* targets, int rows,
                   int vocabulary, cudaStream_t stream) {
  cross_entropy_kernel<<<(rows + kWarps - 1) / kWarps, dim3(kWarp, kWarps), 0, stream>>>(
      losses, d_logits, logits, targets, rows, vocabulary);
  examples::launched("cross_entropy");
}

void mean(float* out, const float* values, int count, cudaStream_t stream) {
  mean_kernel<<<1, kWarp, 0, stream>>>(out, values, count);
  examples::launched("mean");
}

}  // namespace gpt
