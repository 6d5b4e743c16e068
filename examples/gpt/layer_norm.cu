#include "examples/common/check.hpp"
#include "examples/gpt/kernels.hpp"
#include "examples/gpt/warp.cuh"

namespace gpt {
namespace {

constexpr float kEpsilon = 1e-5F;
constexpr int kWarps = 4;  // rows a block takes
constexpr int kBlock = 64;

dim3 row_grid(int rows) { return dim3((rows + kWarps - 1) / kWarps); }

__global__ void layer_norm_kernel(float* out, float* mean, float* scale, const float* x, const float* gain,
                                  const float* bias, int rows, int width) {
  const int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= rows) return;
  x += row * width;
  float sum = 0.0F;
  for (int i = threadIdx.x; i < width; i += kWarp) sum += x[i];
  const float row_mean = warp_sum(sum) / width;
  float squares = 0.0F;
  for (int i = threadIdx.x; i < width; i += kWarp) squares += (x[i] - row_mean) * (x[i] - row_mean);
  const float row_scale = 1.0F / sqrtf(warp_sum(squares) / width + kEpsilon);
  for (int i = threadIdx.x; i < width; i += kWarp) {
    out[row * width + i] = (x[i] - row_mean) * row_scale * gain[i] + bias[i];
  }
  if (threadIdx.x == 0) {
    mean[row] = row_mean;
    scale[row] = row_scale;
  }
}

__global__ void layer_norm_backward_kernel(float* d_x, const float* d_residual, const float* d_out,
                                           const float* x, const float* mean, const float* scale,
                                           const float* gain, int rows, int width) {
  const int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= rows) return;
  const int start = row * width;
  const float row_mean = mean[row];
  const float row_scale = scale[row];
  float sum = 0.0F;
  float product_sum = 0.0F;
  for (int i = threadIdx.x; i < width; i += kWarp) {
    const float d_normal = d_out[start + i] * gain[i];
    sum += d_normal;
    product_sum += d_normal * (x[start + i] - row_mean) * row_scale;
  }
  const float d_mean = warp_sum(sum) / width;
  const float d_scale = warp_sum(product_sum) / width;
  for (int i = threadIdx.x; i < width; i += kWarp) {
    const float normal = (x[start + i] - row_mean) * row_scale;
    const float d_normal = d_out[start + i] * gain[i];
    d_x[start + i] = d_residual[start + i] + (d_normal - d_mean - normal * d_scale) * row_scale;
  }
}

// A thread owns one column.
__global__ void layer_norm_backward_parameters_kernel(float* d_gain, float* d_bias, const float* d_out,
                                                      const float* x, const float* mean, const float* scale,
                                                      int rows, int width) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= width) return;
  float gain_sum = 0.0F;
  float bias_sum = 0.0F;
  for (int row = 0; row < rows; ++row) {
    const float d = d_out[row * width + column];
    gain_sum += d * (x[row * width + column] - mean[row]) * scale[row];
    bias_sum += d;
  }
  d_gain[column] = gain_sum;
  d_bias[column] = bias_sum;
}

}  // namespace

void layer_norm(float* out, float* mean, float* scale, const float* x, const float* gain, const float* bias,
                int rows, int width, cudaStream_t stream) {
  layer_norm_kernel<<<row_grid(rows), dim3(kWarp, kWarps), 0, stream>>>(out, mean, scale, x, gain, bias, rows,
                                                                        width);
  examples::launched("layer_norm");
}

void layer_norm_backward(float* d_x, const float* d_residual, const float* d_out, const float* x,
                         const float* mean, const float* scale, const float* gain, int rows, int width,
                         cudaStream_t stream) {
  layer_norm_backward_kernel<<<row_grid(rows), dim3(kWarp, kWarps), 0, stream>>>(
      d_x, d_residual, d_out, x, mean, scale, gain, rows, width);
  examples::launched("layer_norm_backward");
}

void layer_norm_backward_parameters(float* d_gain, float* d_bias, const float* d_out, const float* x,
                                    const float* mean, const float* scale, int rows, int width,
                                    cudaStream_t stream) {
  const dim3 grid((width + kBlock - 1) / kBlock);
  layer_norm_backward_parameters_kernel<<<grid, kBlock, 0, stream>>>(d_gain, d_bias, d_out, x, mean, scale,
                                                                     rows, width);
  examples::launched("layer_norm_backward_parameters");
}

}  // namespace gpt
