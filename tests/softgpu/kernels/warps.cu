// What lanes do together, and atomics.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" {

__global__ void shuffles(int* out) {
  const int lane = threadIdx.x & 31, value = threadIdx.x * 7;
  int* mine = out + threadIdx.x * 8;
  mine[0] = __shfl_sync(0xffffffffu, value, 5);
  mine[1] = __shfl_up_sync(0xffffffffu, value, 3);
  mine[2] = __shfl_down_sync(0xffffffffu, value, 9);
  mine[3] = __shfl_xor_sync(0xffffffffu, value, 10);
  mine[4] = __shfl_sync(0xffffffffu, value, lane + 1, 8);
  mine[5] = __shfl_up_sync(0xffffffffu, value, 2, 16);
  mine[6] = __shfl_down_sync(0xffffffffu, value, 4, 4);
  mine[7] = __shfl_xor_sync(0xffffffffu, value, 1, 2);
}
__global__ void votes(const int* in, unsigned* out) {
  const int v = in[threadIdx.x];
  unsigned* mine = out + threadIdx.x * 6;
  mine[0] = __ballot_sync(0xffffffffu, v & 1);
  mine[1] = __any_sync(0xffffffffu, v > 90);
  mine[2] = __all_sync(0xffffffffu, v < 95);
  mine[3] = __match_any_sync(0xffffffffu, v & 3);
  mine[4] = 0;
  if (v & 1) mine[4] = __activemask();
  __syncwarp();
  mine[5] = __syncthreads_count(v & 2);
}
__global__ void divergent_shuffle(const int* in, int* out) {
  int v = in[threadIdx.x];
  // Lanes take different times to reach the same exchange.
  for (int k = 0; k < (in[threadIdx.x] & 7); ++k) v = v * 3 + 1;
  out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, v, 1);
  if (threadIdx.x & 4) {
    const unsigned members = 0xf0f0f0f0u;
    out[threadIdx.x] += __shfl_down_sync(members, v, 1, 4);
  }
}
// The lanes of a warp meet, but in different branches.
__global__ void barriers_in_branches(int* out) {
  __shared__ volatile int passed[96];
  const int t = threadIdx.x, other = t ^ 16;
  if (t & 16) {
    passed[t] = t * 3;
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
    out[t] = passed[other];
  } else {
    passed[t] = t * 5;
    for (int k = 0; k < (t & 3); ++k) passed[t] += k;
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
    out[t] = passed[other] + 1;
  }
  __syncwarp();
  out[t] += passed[t];
}
__global__ void tiles(const int* in, int* out) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int v = in[threadIdx.x];
  for (int k = tile.size() / 2; k > 0; k /= 2) v += tile.shfl_down(v, k);
  out[threadIdx.x] = v;
}
__global__ void atomics(int* i, unsigned* u, unsigned long long* l, float* f, double* d) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(i + 0, t);
  atomicMin(i + 1, -t);
  atomicMax(i + 2, t);
  atomicAnd(u + 0, ~(1u << (t & 31)));
  atomicOr(u + 1, 1u << (t & 7));
  atomicXor(u + 2, t);
  atomicInc(u + 3, 100);
  atomicDec(u + 4, 77);
  atomicAdd(l, 1ull << 33);
  atomicAdd(f, 0.1f * t);
  atomicAdd(d, 0.1 * t);
  i[8 + t] = atomicExch(i + 3, t);
  atomicCAS(i + 4, t, t + 1);
}
__global__ void histogram(const int* in, int* out, int n) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&bins[in[i] & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(out + threadIdx.x, bins[threadIdx.x]);
}
__global__ void spin_lock(int* lock, int* counter) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *const_cast<volatile int*>(counter) += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}
__device__ unsigned finished;
__global__ void last_block(const int* in, int* partial, int* out) {
  int sum = in[blockIdx.x * 32 + threadIdx.x];
  for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, k);
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (int b = 0; b < gridDim.x; ++b) total += reinterpret_cast<volatile int*>(partial)[b];
    *out = total;
  }
}
__global__ void grid_wide(int* data, int* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  for (int round = 0; round < 3; ++round) {
    data[t] += t * round;
    cg::this_grid().sync();
    out[t] = data[n - 1 - t];
    cg::this_grid().sync();
  }
}
// Blocks wait for blocks behind them.
__global__ void backward_flags(volatile int* flags) {
  if (threadIdx.x == 0) {
    if (blockIdx.x + 1 < gridDim.x) {
      while (flags[blockIdx.x + 1] == 0) {
      }
    }
    flags[blockIdx.x] = 1;
  }
}
}
