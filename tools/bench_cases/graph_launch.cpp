// usage: graph_launch COUNT LIBRARY : what LIBRARY, tencache, adds to one cuGraphLaunch, and to it for each
// node more. The graphs are chains of kernels, captured, each with one buffer that no other has and three
// that its neighbours have too, all resident.
#include <cstdlib>

#include "tools/bench_cases/pairs.hpp"

namespace {

constexpr char kFourPointers[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry four_pointers(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) { ret; }\n";
constexpr int kBurst = 8;
constexpr int kFewNodes = 16;
constexpr int kManyNodes = 512;

class GraphLaunches {
 public:
  GraphLaunches(const gpu_check::Gpu& gpu, const gpu_check::DriverApi& driver, int nodes)
      : gpu_(gpu), stream_(gpu, driver) {
    const gpu_check::Function function = bench::load_kernel(gpu, kFourPointers, "four_pointers");
    std::vector<gpu_check::Address> buffers(static_cast<std::size_t>(nodes) + 3);
    for (gpu_check::Address& buffer : buffers) buffer = gpu.allocate(64 * 1024);
    gpu_check::Graph graph = nullptr;
    const gpu_check::Stream stream = stream_.stream();
    gpu.must("cuStreamBeginCapture", gpu.api.cuStreamBeginCapture_v2(stream, gpu_check::kCaptureRelaxed));
    for (auto first = buffers.begin(); buffers.end() - first >= 4; ++first) {
      std::array<void*, 4> parameters{&first[0], &first[1], &first[2], &first[3]};
      gpu.must("cuLaunchKernel",
               gpu.api.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters.data(), nullptr));
    }
    gpu.must("cuStreamEndCapture", gpu.api.cuStreamEndCapture(stream, &graph));
    gpu.must("cuGraphInstantiate", gpu.api.cuGraphInstantiateWithFlags(&exec_, graph, 0));
  }

  bench::Added compare(const gpu_check::DriverApi& driver, int pairs) {
    return bench::compare(gpu_.api, driver, pairs, [&](const gpu_check::DriverApi& api) {
      return stream_.burst(kBurst,
                           [&] { gpu_.must("cuGraphLaunch", api.cuGraphLaunch(exec_, stream_.stream())); });
    });
  }

 private:
  const gpu_check::Gpu& gpu_;
  bench::HeldBackStream stream_;
  gpu_check::GraphExec exec_ = nullptr;
};

}  // namespace

int main(int, char** words) {
  const int pairs = std::max(std::atoi(words[1]) / kBurst / 2, 1);
  gpu_check::DriverApi driver;
  const std::string problem = driver.open();
  const gpu_check::Gpu gpu("graph_launch", gpu_check::AnswerWriter(STDOUT_FILENO), {}, words[2]);
  gpu.must(problem.c_str(), problem.empty() ? 0 : 1);
  const double few = GraphLaunches(gpu, driver, kFewNodes).compare(driver, pairs).wall;
  const double many = GraphLaunches(gpu, driver, kManyNodes).compare(driver, pairs).wall;
  gpu.number("added", few, "ns");
  gpu.number("per_node", (many - few) / (kManyNodes - kFewNodes), "ns");
}
