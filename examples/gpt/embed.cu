#include "examples/common/check.hpp"
#include "examples/gpt/kernels.hpp"

namespace gpt {
namespace {

constexpr int kBlock = 128;

dim3 grid(int count) { return dim3((count + kBlock - 1) / kBlock); }

__global__ void embed_kernel(float* out, const int* tokens, const float* token_table,
                             const float* position_table, int count, int sequence, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int row = i / width;
  const int column = i % width;
  out[i] = token_table[tokens[row] * width + column] + position_table[row % sequence * width + column];
}

// A thread owns one element of the table and looks through all tokens for its row.
__global__ void embed_backward_tokens_kernel(float* d_table, const float* d_out, const int* tokens, int count,
                                             int rows, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int token = i / width;
  float sum = 0.0F;
  for (int row = 0; row < rows; ++row) {
    if (tokens[row] == token) sum += d_out[row * width + i % width];
  }
  d_table[i] = sum;
}

__global__ void embed_backward_positions_kernel(float* d_table, const float* d_out, int count, int batch) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float sum = 0.0F;
  for (int b = 0; b < batch; ++b) sum += d_out[b * count + i];
  d_table[i] = sum;
}

}  // namespace

void embed(float* out, const int* tokens, const float* token_table, const float* position_table, Shape shape,
           cudaStream_t stream) {
  const int count = shape.rows() * shape.width;
  embed_kernel<<<grid(count), kBlock, 0, stream>>>(out, tokens, token_table, position_table, count,
                                                   shape.sequence, shape.width);
  examples::launched("embed");
}

void embed_backward_tokens(float* d_table, const float* d_out, const int* tokens, int vocabulary, Shape shape,
                           cudaStream_t stream) {
  const int count = vocabulary * shape.width;
  embed_backward_tokens_kernel<<<grid(count), kBlock, 0, stream>>>(d_table, d_out, tokens, count,
                                                                   shape.rows(), shape.width);
  examples::launched("embed_backward_tokens");
}

void embed_backward_positions(float* d_table, const float* d_out, Shape shape, cudaStream_t stream) {
  const int count = shape.sequence * shape.width;
  embed_backward_positions_kernel<<<grid(count), kBlock, 0, stream>>>(d_table, d_out, count, shape.batch);
  examples::launched("embed_backward_positions");
}

}  // namespace gpt
