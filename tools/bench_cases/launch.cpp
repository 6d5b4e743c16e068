// usage: launch COUNT LIBRARY : what LIBRARY, tencache, adds to one cuLaunchKernel of a kernel with four
// pointers, all resident. By tencache's door and by the driver's own function, which it calls, on the same
// kernel, stream and memory; a burst fits into the stream's queue.
#include <cstdlib>

#include "tools/bench_cases/pairs.hpp"

namespace {

constexpr char kFourPointers[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry four_pointers(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) { ret; }\n";
constexpr int kBurst = 128;

class Launches {
 public:
  Launches(const gpu_check::Gpu& gpu, const gpu_check::DriverApi& driver)
      : gpu_(gpu), stream_(gpu, driver), function_(bench::load_kernel(gpu, kFourPointers, "four_pointers")) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      buffers_[i] = gpu.allocate(gpu_check::kMiB);
      parameters_[i] = &buffers_[i];
    }
  }

  bench::Cost burst(const gpu_check::DriverApi& api) {
    return stream_.burst(kBurst, [&] {
      gpu_.must("cuLaunchKernel", api.cuLaunchKernel(function_, 1, 1, 1, 32, 1, 1, 0, stream_.stream(),
                                                     parameters_.data(), nullptr));
    });
  }

 private:
  const gpu_check::Gpu& gpu_;
  bench::HeldBackStream stream_;
  const gpu_check::Function function_;
  std::array<gpu_check::Address, 4> buffers_{};
  std::array<void*, 4> parameters_{};
};

}  // namespace

int main(int, char** words) {
  const int pairs = std::max(std::atoi(words[1]) / kBurst / 2, 1);
  gpu_check::DriverApi driver;
  const std::string problem = driver.open();
  const gpu_check::Gpu gpu("launch", gpu_check::AnswerWriter(STDOUT_FILENO), {}, words[2]);
  gpu.must(problem.c_str(), problem.empty() ? 0 : 1);
  Launches launches(gpu, driver);
  const bench::Added added = bench::compare(
      gpu.api, driver, pairs, [&](const gpu_check::DriverApi& api) { return launches.burst(api); });
  gpu.number("added", added.wall, "ns");
  gpu.number("added_cpu", added.cpu, "ns");
  gpu.number("driver", added.genuine, "ns");
}
