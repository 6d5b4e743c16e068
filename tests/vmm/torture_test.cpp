// Random programs on a GPU that does things when it likes: many tensors, several times HBM, kernels of
// several steps on several streams and threads. What they compute must be what a CPU computes in program
// order.
#include <random>

#include "tests/vmm/memory_harness.hpp"

namespace tencache::test {
namespace {

struct Cell {
  bool detached;
  std::uint64_t seed;
};

class TortureTest : public testing::TestWithParam<Cell> {};

// One thread's tensors and stream; what they hold is known.
class Worker {
 public:
  Worker(Machine& machine, std::uint64_t seed, int tensors) : machine_(machine), random_(seed) {
    stream_ = machine.fake.make_stream();
    for (int i = 0; i < tensors; ++i) make();
  }

  void run(int operations) {
    for (int i = 0; i < operations; ++i) {
      if (random_() % 8 == 0) replace();
      compute();
    }
    for (const Tensor& tensor : tensors_) check(tensor);
  }

 private:
  struct Tensor {
    CUdeviceptr address;
    std::uint64_t size;
    std::vector<std::uint32_t> words;  // the first of each page, and the last of all
  };

  void make() {
    Tensor tensor;
    tensor.size = random_() % 4 == 0 ? 256 : kPage * (1 + random_() % 6);
    tensor.address = machine_.allocate(tensor.size);
    ASSERT_NE(tensor.address, 0u);
    tensor.words.assign(places(tensor), 0);
    // Fresh memory may hold anything: it is written before it is read.
    std::vector<FakeDriver::Step> steps;
    for (std::size_t i = 0; i < tensor.words.size(); ++i) {
      tensor.words[i] = static_cast<std::uint32_t>(random_());
      steps.push_back(store(word(tensor, i), tensor.words[i]));
    }
    ASSERT_TRUE(machine_.launch(stream_, {tensor.address}, std::move(steps)).ok());
    tensors_.push_back(std::move(tensor));
  }

  static std::size_t places(const Tensor& tensor) { return (tensor.size + kPage - 1) / kPage + 1; }
  static CUdeviceptr word(const Tensor& tensor, std::size_t i) {
    const bool last = i + 1 == places(tensor);
    return last ? tensor.address + tensor.size - 4 : tensor.address + i * kPage;
  }

  // to = to * 3 + from, word by word, one step each.
  void compute() {
    Tensor& to = tensors_[random_() % tensors_.size()];
    const Tensor& from = tensors_[random_() % tensors_.size()];
    std::vector<FakeDriver::Step> steps;
    for (std::size_t i = 0; i < to.words.size(); ++i) {
      const std::size_t j = i % from.words.size();
      to.words[i] = to.words[i] * 3 + from.words[j];
      const CUdeviceptr target = word(to, i);
      const CUdeviceptr source = word(from, j);
      steps.emplace_back([target, source](FakeDriver& gpu) {
        const std::uint32_t value = gpu.load(target) * 3 + gpu.load(source);
        gpu.store(target, value);
      });
    }
    ASSERT_TRUE(machine_.launch(stream_, {to.address, from.address}, std::move(steps)).ok());
  }

  void replace() {
    const std::size_t index = random_() % tensors_.size();
    check(tensors_[index]);
    const std::uint64_t number = machine_.memory->last_number();
    machine_.fake.run_everything();  // as cudaFree waits
    machine_.memory->context_waited(number);
    ASSERT_TRUE(machine_.memory->free_now(tensors_[index].address));
    tensors_.erase(tensors_.begin() + static_cast<long>(index));
    make();
  }

  void check(const Tensor& tensor) {
    std::vector<FakeDriver::Step> steps;
    for (std::size_t i = 0; i < tensor.words.size(); ++i)
      steps.push_back(expect(word(tensor, i), tensor.words[i]));
    ASSERT_TRUE(machine_.launch(stream_, {tensor.address}, std::move(steps)).ok());
  }

  Machine& machine_;
  std::mt19937_64 random_;
  CUstream stream_;
  std::vector<Tensor> tensors_;
};

TEST_P(TortureTest, ComputesWhatACpuComputes) {
  const Cell cell = GetParam();
  Machine machine(cell.detached, 24, cell.seed, true);
  machine.advisor.worst = cell.seed % 4 < 2;
  const int threads = 1 + static_cast<int>(cell.seed % 3);
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&machine, &cell, i, threads] {
      Worker(machine, cell.seed * 16 + static_cast<std::uint64_t>(i), 24 / threads).run(30);
    });
  }
  for (std::thread& worker : workers) worker.join();
  machine.fake.run_everything();
  EXPECT_EQ(machine.fake.faults(), std::vector<std::string>{});
  EXPECT_GT(machine.statistics.evictions.load(), 0u);
  EXPECT_LE(machine.statistics.hbm_peak.load(), machine.settings.hbm_budget.count());
}

std::vector<Cell> cells() {
  std::vector<Cell> all;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    all.push_back({true, seed});
    all.push_back({false, seed});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Seeds, TortureTest, testing::ValuesIn(cells()), [](const auto& info) {
  return std::string(info.param.detached ? "detached" : "mapped") + std::to_string(info.param.seed);
});

}  // namespace
}  // namespace tencache::test
