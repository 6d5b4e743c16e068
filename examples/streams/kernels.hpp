// The kernels of the streams example. Called by main.cpp. Thread rule: any thread; work is enqueued on the
// stream. Failure rule: a refused launch ends the program.
#pragma once

#include <cuda_runtime.h>

namespace overlap {

// Each value is stepped `rounds` times through a linear congruential generator.
inline constexpr unsigned kFactor = 1664525;
inline constexpr unsigned kIncrement = 1013904223;
void scramble(unsigned* values, int count, int rounds, cudaStream_t stream);

// out[i] = a[i] + b[i]
void add(unsigned* out, const unsigned* a, const unsigned* b, int count, cudaStream_t stream);

}  // namespace overlap
