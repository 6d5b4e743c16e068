// usage: launch COUNT LIBRARY : what LIBRARY, tencache, adds to one cuLaunchKernel of a kernel with four
// pointers, all resident.
//
// Both ways are taken in one process, on the same kernel, stream and memory: by tencache's door and by the
// driver's own function, which it calls. Bursts of each, which fit into the stream's queue, alternate; two
// neighbours are a pair, and the figure is the median of the pairs' differences. So what the machine does to
// one half it does to the other, and what the driver itself spends is in both. The stream is held back while
// launches are timed, so that the device's threads do not get in the way. The wall clock is the figure; the
// thread's own CPU time stands beside it, for a busy machine.
#include <cstdlib>
#include <mutex>

#include "tools/bench_cases/cases.hpp"

namespace {

using LaunchKernel = decltype(gpu_check::DriverApi::cuLaunchKernel);

constexpr char kFourPointers[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry four_pointers(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) { ret; }\n";
constexpr int kBurst = 128;

double thread_cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// Nanoseconds of one launch.
struct Cost {
  double wall;
  double cpu;
};

class Launches {
 public:
  Launches(const gpu_check::Gpu& gpu, const gpu_check::DriverApi& driver)
      : gpu_(gpu),
        driver_(driver),
        function_(bench::load_kernel(gpu, kFourPointers, "four_pointers")),
        stream_(gpu.new_stream()) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      buffers_[i] = gpu.allocate(gpu_check::kMiB);
      parameters_[i] = &buffers_[i];
    }
  }

  Cost burst(LaunchKernel launch_kernel) {
    std::unique_lock held_back(gate_);
    // Behind tencache's back, which does not let launches run far ahead of a host function.
    gpu_.must("cuLaunchHostFunc", driver_.cuLaunchHostFunc(stream_, wait_at_gate, &gate_));
    const double cpu_before = thread_cpu_ns();
    const double wall = gpu_check::timed([&] {
      for (int i = 0; i < kBurst; ++i)
        gpu_.must("cuLaunchKernel",
                  launch_kernel(function_, 1, 1, 1, 32, 1, 1, 0, stream_, parameters_.data(), nullptr));
    });
    const double cpu = thread_cpu_ns() - cpu_before;
    held_back.unlock();
    gpu_.finish(stream_);
    return {wall / kBurst, cpu / kBurst};
  }

 private:
  static void wait_at_gate(void* gate) { const std::lock_guard passing(*static_cast<std::mutex*>(gate)); }

  const gpu_check::Gpu& gpu_;
  const gpu_check::DriverApi& driver_;
  const gpu_check::Function function_;
  const gpu_check::Stream stream_;
  std::mutex gate_;  // shut while launches are timed
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
  std::vector<double> wall;
  std::vector<double> cpu;
  std::vector<double> alone;
  (void)launches.burst(gpu.api.cuLaunchKernel);
  for (int i = 0; i < pairs; ++i) {
    const bool door_first = i % 2 == 0;
    const Cost first = launches.burst(door_first ? gpu.api.cuLaunchKernel : driver.cuLaunchKernel);
    const Cost second = launches.burst(door_first ? driver.cuLaunchKernel : gpu.api.cuLaunchKernel);
    const Cost& door = door_first ? first : second;
    const Cost& genuine = door_first ? second : first;
    wall.push_back(door.wall - genuine.wall);
    cpu.push_back(door.cpu - genuine.cpu);
    alone.push_back(genuine.wall);
  }
  gpu.number("added", gpu_check::median(wall), "ns");
  gpu.number("added_cpu", gpu_check::median(cpu), "ns");
  gpu.number("driver", gpu_check::median(alone), "ns");
}
