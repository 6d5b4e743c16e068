#include "examples/mlp/kernels.hpp"

#include "examples/common/check.hpp"

namespace mlp {
namespace {

constexpr int kBlock = 256;

dim3 grid(int count) { return dim3((count + kBlock - 1) / kBlock); }

__device__ int this_element() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void relu_kernel(float* x, int count) {
  const int i = this_element();
  if (i < count) x[i] = fmaxf(x[i], 0.0F);
}

__global__ void relu_backward_kernel(float* d, const float* out, int count) {
  const int i = this_element();
  if (i < count && out[i] <= 0.0F) d[i] = 0.0F;
}

__global__ void squared_error_kernel(float* losses, float* d_out, const float* out, const float* wanted,
                                     int count) {
  const int i = this_element();
  if (i >= count) return;
  const float difference = out[i] - wanted[i];
  losses[i] = difference * difference / count;
  d_out[i] = 2.0F * difference / count;
}

__global__ void momentum_step_kernel(float* value, float* velocity, const float* gradient, int count,
                                     float learning_rate, float momentum) {
  const int i = this_element();
  if (i >= count) return;
  const float v = momentum * velocity[i] + gradient[i];
  velocity[i] = v;
  value[i] -= learning_rate * v;
}

}  // namespace

void relu(float* x, int count, cudaStream_t stream) {
  relu_kernel<<<grid(count), kBlock, 0, stream>>>(x, count);
  examples::launched("relu");
}

void relu_backward(float* d, const float* out, int count, cudaStream_t stream) {
  relu_backward_kernel<<<grid(count), kBlock, 0, stream>>>(d, out, count);
  examples::launched("relu_backward");
}

void squared_error(float* losses, float* d_out, const float* out, const float* wanted, int count,
                   cudaStream_t stream) {
  squared_error_kernel<<<grid(count), kBlock, 0, stream>>>(losses, d_out, out, wanted, count);
  examples::launched("squared_error");
}

void momentum_step(float* value, float* velocity, const float* gradient, int count, float learning_rate,
                   float momentum, cudaStream_t stream) {
  momentum_step_kernel<<<grid(count), kBlock, 0, stream>>>(value, velocity, gradient, count, learning_rate,
                                                           momentum);
  examples::launched("momentum_step");
}

}  // namespace mlp
