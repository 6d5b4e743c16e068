// usage: launch COUNT : the mean time of one cuLaunchKernel of a kernel with four pointers, all resident.
// Launches go out in bursts that fit into the stream's queue; waiting for the device is not counted.
#include <cstdlib>

#include "tools/bench_cases/cases.hpp"

namespace {

constexpr char kFourPointers[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry four_pointers(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) { ret; }\n";
constexpr int kBurst = 512;

double burst_nanoseconds(const gpu_check::Gpu& gpu, gpu_check::Function function, gpu_check::Stream stream,
                         void** parameters) {
  const double elapsed = gpu_check::timed([&] {
    for (int i = 0; i < kBurst; ++i)
      (void)gpu.api.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr);
  });
  gpu.finish(stream);
  return elapsed;
}

}  // namespace

int main(int, char** words) {
  const int bursts = std::max(std::atoi(words[1]) / kBurst, 1);
  const gpu_check::Gpu gpu("launch", gpu_check::AnswerWriter(STDOUT_FILENO), {});
  const gpu_check::Function function = bench::load_kernel(gpu, kFourPointers, "four_pointers");
  const gpu_check::Stream stream = gpu.new_stream();
  std::array<gpu_check::Address, 4> buffers{};
  std::array<void*, 4> parameters{};
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    buffers[i] = gpu.allocate(gpu_check::kMiB);
    parameters[i] = &buffers[i];
  }
  (void)burst_nanoseconds(gpu, function, stream, parameters.data());
  double total = 0;
  for (int i = 0; i < bursts; ++i) total += burst_nanoseconds(gpu, function, stream, parameters.data());
  gpu.number("mean", total / bursts / kBurst, "ns");
}
