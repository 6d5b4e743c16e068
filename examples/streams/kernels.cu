#include "examples/streams/kernels.hpp"

#include "examples/common/check.hpp"

namespace overlap {
namespace {

constexpr int kBlock = 128;

dim3 grid(int count) { return dim3((count + kBlock - 1) / kBlock); }

__global__ void scramble_kernel(unsigned* values, int count, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  unsigned value = values[i];
  for (int round = 0; round < rounds; ++round) value = value * kFactor + kIncrement;
  values[i] = value;
}

__global__ void add_kernel(unsigned* out, const unsigned* a, const unsigned* b, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = a[i] + b[i];
}

}  // namespace

void scramble(unsigned* values, int count, int rounds, cudaStream_t stream) {
  scramble_kernel<<<grid(count), kBlock, 0, stream>>>(values, count, rounds);
  examples::launched("scramble");
}

void add(unsigned* out, const unsigned* a, const unsigned* b, int count, cudaStream_t stream) {
  add_kernel<<<grid(count), kBlock, 0, stream>>>(out, a, b, count);
  examples::launched("add");
}

}  // namespace overlap
