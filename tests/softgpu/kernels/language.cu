// What the language does: divergence, calls, shared memory, printing, structures, local arrays.
#include <cassert>
#include <cstdio>

extern "C" {

__global__ void divergence(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int total = 0;
  for (int k = 0; k < in[i]; ++k) {
    if (k == 7) continue;
    for (int j = 0; j < k; ++j) {
      if (j * 3 > in[i]) break;
      total += j ^ k;
    }
    if (total > 500) break;
  }
  switch (in[i] & 3) {
    case 0: total += 1; break;
    case 1: total *= 3; break;
    case 2: total -= i; break;
    default: if (i & 1) { out[i] = -total; return; }
  }
  out[i] = total;
}

__global__ void reverse_in_block(int* data) {
  __shared__ int tile[300];
  const int base = blockIdx.x * blockDim.x;
  tile[threadIdx.x] = data[base + threadIdx.x];
  __syncthreads();
  data[base + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void reduce(const float* in, float* out, int n) {
  extern __shared__ float partial[];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += in[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void recursion(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 13); }

__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ int negative(int x) { return -x; }
__device__ int (*operations[3])(int) = {twice, square, negative};
__global__ void indirect(int* out) { out[threadIdx.x] = operations[threadIdx.x % 3](threadIdx.x); }

struct Mixed {
  char c;
  short s;
  int i;
  double d;
  float v[5];
};
__device__ __noinline__ double sum_of(Mixed m, int k) { return m.c + m.s + m.i + m.d + m.v[k % 5]; }
__global__ void structures(Mixed m, double* out) {
  m.i += threadIdx.x;
  out[threadIdx.x] = sum_of(m, threadIdx.x);
}

__global__ void local_array(const int* in, int* out) {
  int values[16];
  for (int k = 0; k < 16; ++k) values[k] = in[threadIdx.x] * k;
  for (int k = 0; k < 40; ++k) values[(k * in[threadIdx.x]) & 15] += k;
  int sum = 0;
  for (int k = 0; k < 16; ++k) sum = sum * 31 + values[(k + threadIdx.x) & 15];
  out[threadIdx.x] = sum;
}

__constant__ float weights[4] = {1.5f, -2.0f, 0.25f, 8.0f};
__device__ int counter = 5;
__device__ const char* names[2] = {"even", "odd"};
__global__ void globals(float* out) {
  out[threadIdx.x] = weights[threadIdx.x & 3];
  atomicAdd(&counter, 2);
}
__global__ void prints(int n) {
  if (threadIdx.x < n)
    printf("%d %s %5.2f %c|%-4d|%llx %%\n", threadIdx.x, names[threadIdx.x & 1], threadIdx.x * 0.5, 'a' + threadIdx.x, 7,
           0x123456789abcull);
}
__global__ void asserts(int n) { assert(threadIdx.x < n); }
__global__ void traps(int n) {
  if (threadIdx.x == n) __trap();
}
__global__ void overruns(int* p, int at) { p[threadIdx.x + at] = 1; }
__global__ void misaligns(char* p) { *reinterpret_cast<int*>(p + threadIdx.x) = 1; }
__global__ void waits_forever() {
  if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");
}
__global__ void waits_for_flag(volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  out[threadIdx.x] = *flag;
}
__global__ void early_exit_then_barrier(int* out) {
  __shared__ int value;
  if (threadIdx.x >= 40) return;
  if (threadIdx.x == 3) value = 17;
  __syncthreads();
  out[threadIdx.x] = value;
}
}
