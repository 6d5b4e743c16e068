// The MLP's kernels besides matrix products. Called by network.cpp. Thread rule: any thread; work is enqueued
// on the stream. Failure rule: a refused launch ends the program.
#pragma once

#include <cuda_runtime.h>

namespace mlp {

// x = max(x, 0)
void relu(float* x, int count, cudaStream_t stream);
// d_x = d_out where the output was positive, else 0; in place
void relu_backward(float* d, const float* out, int count, cudaStream_t stream);

// losses[i] = (out[i] - wanted[i])^2 / count and d_out its gradient
void squared_error(float* losses, float* d_out, const float* out, const float* wanted, int count,
                   cudaStream_t stream);

// velocity = momentum * velocity + gradient; value -= learning_rate * velocity
void momentum_step(float* value, float* velocity, const float* gradient, int count, float learning_rate,
                   float momentum, cudaStream_t stream);

}  // namespace mlp
