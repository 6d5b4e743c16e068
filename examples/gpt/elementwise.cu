#include "examples/common/check.hpp"
#include "examples/gpt/kernels.hpp"

namespace gpt {
namespace {

constexpr int kBlock = 256;
// GELU by tanh: 0.5 x (1 + tanh(kSlope (x + kCube x^3)))
constexpr float kSlope = 0.7978845608028654F;
constexpr float kCube = 0.044715F;

dim3 grid(int count) { return dim3((count + kBlock - 1) / kBlock); }

__device__ int this_element() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void gelu_kernel(float* out, const float* x, int count) {
  const int i = this_element();
  if (i >= count) return;
  const float value = x[i];
  out[i] = 0.5F * value * (1.0F + tanhf(kSlope * (value + kCube * value * value * value)));
}

__global__ void gelu_backward_kernel(float* d_x, const float* d_out, const float* x, int count) {
  const int i = this_element();
  if (i >= count) return;
  const float value = x[i];
  const float t = tanhf(kSlope * (value + kCube * value * value * value));
  const float inner = kSlope * (1.0F + 3.0F * kCube * value * value);
  d_x[i] = d_out[i] * (0.5F * (1.0F + t) + 0.5F * value * (1.0F - t * t) * inner);
}

__global__ void add_kernel(float* out, const float* a, const float* b, int count) {
  const int i = this_element();
  if (i < count) out[i] = a[i] + b[i];
}

__global__ void adamw_kernel(float* value, float* first_moment, float* second_moment, const float* gradient,
                             int count, AdamW settings) {
  const int i = this_element();
  if (i >= count) return;
  const float g = gradient[i];
  const float first = settings.beta1 * first_moment[i] + (1.0F - settings.beta1) * g;
  const float second = settings.beta2 * second_moment[i] + (1.0F - settings.beta2) * g * g;
  first_moment[i] = first;
  second_moment[i] = second;
  const float step = first / settings.correction1 / (sqrtf(second / settings.correction2) + settings.epsilon);
  value[i] -= settings.learning_rate * (step + settings.decay * value[i]);
}

}  // namespace

void gelu(float* out, const float* x, int count, cudaStream_t stream) {
  gelu_kernel<<<grid(count), kBlock, 0, stream>>>(out, x, count);
  examples::launched("gelu");
}

void gelu_backward(float* d_x, const float* d_out, const float* x, int count, cudaStream_t stream) {
  gelu_backward_kernel<<<grid(count), kBlock, 0, stream>>>(d_x, d_out, x, count);
  examples::launched("gelu_backward");
}

void add(float* out, const float* a, const float* b, int count, cudaStream_t stream) {
  add_kernel<<<grid(count), kBlock, 0, stream>>>(out, a, b, count);
  examples::launched("add");
}

void adamw(float* value, float* first_moment, float* second_moment, const float* gradient, int count,
           AdamW settings, cudaStream_t stream) {
  adamw_kernel<<<grid(count), kBlock, 0, stream>>>(value, first_moment, second_moment, gradient, count,
                                                   settings);
  examples::launched("adamw");
}

}  // namespace gpt
