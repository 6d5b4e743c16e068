#include "examples/common/check.hpp"
#include "examples/common/matmul.hpp"

namespace examples {
namespace {

// A block computes a kTile x kTile piece of c; a thread computes one column of kRows rows of it.
constexpr int kTile = 32;
constexpr int kRows = 8;
constexpr int kBlockRows = kTile / kRows;
constexpr int kSumBlock = 64;

// Zero outside; without a branch, since all threads of a warp but those at the edges are inside.
template <Form form>
__device__ float element(const float* x, int row, int column, int rows, int columns) {
  const bool inside = row < rows && column < columns;
  row = min(row, rows - 1);
  column = min(column, columns - 1);
  const float value = form == Form::kPlain ? x[row * columns + column] : x[column * rows + row];
  return inside ? value : 0.0F;
}

// Copies a kTile x kTile piece of x to shared memory. Neighbouring threads read neighbouring words in either
// form.
template <Form form>
__device__ void load_tile(float (*tile)[kTile + 1], const float* x, int row, int column, int rows,
                          int columns) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int y = threadIdx.y + i * kBlockRows;
    if (form == Form::kPlain) {
      tile[y][threadIdx.x] = element<form>(x, row + y, column + threadIdx.x, rows, columns);
    } else {
      tile[threadIdx.x][y] = element<form>(x, row + threadIdx.x, column + y, rows, columns);
    }
  }
}

template <Form a_form, Form b_form>
__global__ void matmul_kernel(float* c, const float* a, const float* b, const float* bias, int m, int n,
                              int k) {
  __shared__ float a_tile[kTile][kTile + 1];
  __shared__ float b_tile[kTile][kTile + 1];
  const int row = blockIdx.y * kTile;
  const int column = blockIdx.x * kTile;
  float sums[kRows] = {};
  for (int step = 0; step < k; step += kTile) {
    load_tile<a_form>(a_tile, a, row, step, m, k);
    load_tile<b_form>(b_tile, b, step, column, k, n);
    __syncthreads();
    for (int i = 0; i < kTile; ++i) {
      const float b_value = b_tile[i][threadIdx.x];
      for (int r = 0; r < kRows; ++r) sums[r] += a_tile[threadIdx.y * kRows + r][i] * b_value;
    }
    __syncthreads();
  }
  const int c_column = column + threadIdx.x;
  if (c_column >= n) return;
  const float offset = bias == nullptr ? 0.0F : bias[c_column];
  for (int r = 0; r < kRows; ++r) {
    const int c_row = row + threadIdx.y * kRows + r;
    if (c_row < m) c[c_row * n + c_column] = sums[r] + offset;
  }
}

__global__ void sum_rows_kernel(float* sums, const float* x, int rows, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  float sum = 0.0F;
  for (int row = 0; row < rows; ++row) sum += x[row * n + column];
  sums[column] = sum;
}

}  // namespace

void matmul(float* c, const float* a, Form a_form, const float* b, Form b_form, const float* bias, int m,
            int n, int k, cudaStream_t stream) {
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  const dim3 block(kTile, kBlockRows);
  if (a_form == Form::kTransposed) {
    matmul_kernel<Form::kTransposed, Form::kPlain><<<grid, block, 0, stream>>>(c, a, b, bias, m, n, k);
  } else if (b_form == Form::kTransposed) {
    matmul_kernel<Form::kPlain, Form::kTransposed><<<grid, block, 0, stream>>>(c, a, b, bias, m, n, k);
  } else {
    matmul_kernel<Form::kPlain, Form::kPlain><<<grid, block, 0, stream>>>(c, a, b, bias, m, n, k);
  }
  launched("matmul");
}

void sum_rows(float* sums, const float* x, int rows, int n, cudaStream_t stream) {
  sum_rows_kernel<<<(n + kSumBlock - 1) / kSumBlock, kSumBlock, 0, stream>>>(sums, x, rows, n);
  launched("sum_rows");
}

}  // namespace examples
