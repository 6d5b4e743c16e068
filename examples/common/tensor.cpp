#include "examples/common/tensor.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "examples/common/check.hpp"

namespace examples {
namespace {

std::size_t live_bytes = 0;
std::size_t peak_bytes = 0;

[[noreturn]] void out_of_memory(std::size_t bytes) {
  std::fflush(stdout);
  std::fprintf(stderr, "out of memory: cudaMalloc of %zu bytes refused with %zu bytes live\n", bytes,
               live_bytes);
  std::exit(kExitOutOfMemory);
}

}  // namespace

Tensor::Tensor(std::size_t count) : count_(count) {
  const std::size_t bytes = count * sizeof(float);
  const cudaError_t error = cudaMalloc(&data_, bytes);
  if (error == cudaErrorMemoryAllocation) out_of_memory(bytes);
  check(error, "cudaMalloc");
  live_bytes += bytes;
  peak_bytes = std::max(peak_bytes, live_bytes);
}

Tensor::~Tensor() {
  if (data_ == nullptr) return;
  live_bytes -= count_ * sizeof(float);
  check(cudaFree(data_), "cudaFree");
}

void Tensor::from_host(const std::vector<float>& values) {
  check(cudaMemcpy(data_, values.data(), count_ * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
}

std::vector<float> Tensor::to_host() const {
  std::vector<float> values(count_);
  check(cudaMemcpy(values.data(), data_, count_ * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return values;
}

std::size_t peak_live_bytes() { return peak_bytes; }

unsigned long long checksum(const std::vector<float>& values, unsigned long long sum) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  for (std::size_t i = 0; i < values.size() * sizeof(float); ++i) {
    sum = (sum ^ bytes[i]) * 0x100000001b3ULL;
  }
  return sum;
}

}  // namespace examples
