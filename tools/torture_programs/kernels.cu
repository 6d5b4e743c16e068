// Kernels of the generated programs. Integer arithmetic only: results are exact whatever the schedule.
#include <cstdint>

namespace {

__device__ std::uint32_t scramble(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

__device__ std::uint32_t first() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ std::uint32_t stride() { return gridDim.x * blockDim.x; }

}  // namespace

struct Operands {
  std::uint32_t* target;
  const std::uint32_t* sources[3];
  std::uint32_t counts[4];
  std::uint32_t salt;
};

// Pointers at offsets that are multiples of 4 only.
#pragma pack(push, 4)
struct PackedOperands {
  std::uint32_t salt;
  std::uint32_t* target;
  std::uint32_t count;
  const std::uint32_t* source;
  std::uint32_t source_count;
};
#pragma pack(pop)

extern "C" __global__ void fill(std::uint32_t* target, std::uint32_t count, std::uint32_t salt) {
  for (std::uint32_t i = first(); i < count; i += stride()) target[i] = scramble(i ^ salt);
}

extern "C" __global__ void mix(std::uint32_t* target, std::uint32_t count, const std::uint32_t* a, std::uint32_t a_count,
                               const std::uint32_t* b, std::uint32_t b_count, std::uint32_t salt) {
  for (std::uint32_t i = first(); i < count; i += stride())
    target[i] = scramble(target[i] + 3 * a[i % a_count] + 5 * b[i % b_count] + salt);
}

extern "C" __global__ void mix_struct(Operands o) {
  for (std::uint32_t i = first(); i < o.counts[0]; i += stride()) {
    std::uint32_t sum = o.target[i] + o.salt;
    for (int s = 0; s < 3; ++s) sum = scramble(sum + o.sources[s][i % o.counts[s + 1]]);
    o.target[i] = sum;
  }
}

extern "C" __global__ void mix_packed(PackedOperands o) {
  for (std::uint32_t i = first(); i < o.count; i += stride())
    o.target[i] = scramble(o.target[i] ^ o.source[i % o.source_count] ^ o.salt);
}

// The table is written by the device: addresses that no copy from the host has shown.
extern "C" __global__ void make_table(std::uint32_t** table, std::uint32_t* a, std::uint32_t* b, std::uint32_t* c) {
  if (first() == 0) {
    table[0] = a;
    table[1] = b;
    table[2] = c;
  }
}

extern "C" __global__ void copy_table(std::uint32_t** target, std::uint32_t* const* source) {
  if (first() < 3) target[first()] = source[first()];
}

extern "C" __global__ void gather(std::uint32_t* target, std::uint32_t count, std::uint32_t* const* table,
                                  std::uint32_t common_count, std::uint32_t salt) {
  for (std::uint32_t i = first(); i < count; i += stride()) {
    const std::uint32_t j = i % common_count;
    target[i] = scramble(target[i] + table[0][j] + 3 * table[1][j] + 5 * table[2][j] + salt);
  }
}

extern "C" __global__ void scatter(std::uint32_t* const* table, std::uint32_t common_count, std::uint32_t salt) {
  for (std::uint32_t i = first(); i < common_count; i += stride())
    for (int t = 0; t < 3; ++t) table[t][i] = scramble(table[t][i] + salt + t);
}

extern "C" __global__ void block_sums(std::uint32_t* target, std::uint32_t count, const std::uint32_t* source,
                                      std::uint32_t source_count) {
  __shared__ std::uint32_t sums[128];
  std::uint32_t sum = 0;
  for (std::uint32_t i = first(); i < source_count; i += stride()) sum += source[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) target[blockIdx.x % count] += sums[0] * (blockIdx.x + 1);
}

extern "C" __global__ void histogram(std::uint32_t* target, std::uint32_t count, const std::uint32_t* source,
                                     std::uint32_t source_count) {
  for (std::uint32_t i = first(); i < source_count; i += stride()) atomicAdd(&target[source[i] % count], 1u);
}

__device__ std::uint32_t device_symbol[16];
__constant__ std::uint32_t constant_symbol[16];

extern "C" __global__ void add_device_symbol(std::uint32_t* target, std::uint32_t count) {
  for (std::uint32_t i = first(); i < count; i += stride()) target[i] += device_symbol[i % 16];
}

extern "C" __global__ void add_constant_symbol(std::uint32_t* target, std::uint32_t count) {
  for (std::uint32_t i = first(); i < count; i += stride()) target[i] += constant_symbol[i % 16];
}
