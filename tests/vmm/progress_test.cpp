// Rule 4: no launch waits for GPU work without a way out. Mapped mode, HBM full of what waits for the launch.
#include <chrono>

#include "tests/vmm/memory_harness.hpp"

namespace tencache::test {
namespace {

// Kernels that may touch anything: who waits for room waits for a quiescent window.
class ProgressTest : public testing::TestWithParam<bool> {
 protected:
  ProgressTest() : machine(false, 8, 0, true), gpu(machine.fake) {
    machine.opaque = GetParam();
    first = machine.fake.make_stream();
    second = machine.fake.make_stream();
    a = machine.allocate(4 * kPage);
    b = machine.allocate(4 * kPage);
    c = machine.allocate(4 * kPage);
    EXPECT_TRUE(machine.launch(first, {c}, {store(c, 1)}).ok());
    EXPECT_TRUE(machine.launch(first, {a, b}, {store(a, 0), store(b, 0)}).ok());  // c has to go for it
  }
  ~ProgressTest() override {
    machine.fake.run_everything();
    EXPECT_EQ(machine.fake.faults(), std::vector<std::string>{});
  }

  // Enqueues what does not end before `ready`, and holds all of HBM meanwhile.
  void occupy(std::function<bool(FakeDriver&)> ready, bool host_function) {
    vmm::AccessAsk ask = machine.kernel(first, pointers_);
    ask.host_wait = host_function;
    Result<vmm::InFlight*> admitted = machine.memory->admit(ask);
    ASSERT_TRUE(admitted.ok());
    machine.fake.launch_waiting(first, std::move(ready));
    machine.memory->leave(*admitted, ask.stream);
  }

  // Seen by what runs on the GPU, so they outlive it.
  std::atomic<bool> flag{false};
  std::atomic<int> launched{0};
  Machine machine;
  Gpu gpu;
  CUstream first;
  CUstream second;
  CUdeviceptr a;
  CUdeviceptr b;
  CUdeviceptr c;

 private:
  std::vector<CUdeviceptr> pointers_;

 protected:
  void hold_all() { pointers_ = {a, b}; }
};

INSTANTIATE_TEST_SUITE_P(Kernels, ProgressTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "opaque" : "known"; });

TEST_P(ProgressTest, AKernelSpinsOnAFlagThatALaterLaunchSets) {
  hold_all();
  const CUdeviceptr word = a;
  occupy([word](FakeDriver& fake) { return fake.load(word) == 9; }, false);
  const std::uint64_t before = machine.statistics.host_runs.load();
  // The later launch brings a tensor that is not in HBM and finds no room: it runs from the host.
  ASSERT_TRUE(machine.launch(second, {c, a}, {expect(c, 1), store(c, 2), store(word, 9)}).ok());
  while (machine.fake.queued(first) > 0) std::this_thread::yield();
  EXPECT_EQ(machine.statistics.host_runs.load(), before + 1);
  ASSERT_TRUE(machine.launch(second, {c}, {expect(c, 2)}).ok());
}

TEST_P(ProgressTest, AKernelSpinsOnAFlagThatTheProgramSetsAfterTheLaunch) {
  hold_all();
  occupy([this](FakeDriver&) { return flag.load(); }, false);
  ASSERT_TRUE(machine.launch(second, {c}, {expect(c, 1)}).ok());
  flag = true;
}

TEST_P(ProgressTest, AHostFunctionTakesAMutexThatTheLaunchingThreadHolds) {
  hold_all();
  occupy([this](FakeDriver&) { return flag.load(); }, true);
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(machine.launch(second, {c}, {expect(c, 1)}).ok());
  flag = true;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST_P(ProgressTest, ALaunchBehindTheSpinningKernelOnItsOwnStream) {
  hold_all();
  occupy([this](FakeDriver&) { return flag.load(); }, false);
  for (std::uint32_t i = 0; i < 20; ++i)
    ASSERT_TRUE(machine.launch(first, {a}, {store(a, i)}).ok());  // run-ahead
  flag = true;
}

TEST_P(ProgressTest, WithAKernelTimeLimitALaunchWaitsForItsRoom) {
  machine.memory->state().settings.kernels_run_from_host = false;
  hold_all();
  const std::uint64_t before = machine.statistics.host_runs.load();
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(50);  // long after the way out
  occupy([this, end](FakeDriver&) { return flag = std::chrono::steady_clock::now() > end; }, false);
  ASSERT_TRUE(machine.launch(second, {c}, {expect(c, 1)}).ok());
  EXPECT_TRUE(flag);  // what held the room has ended
  EXPECT_EQ(machine.statistics.host_runs.load(), before);
}

TEST_P(ProgressTest, SeveralThreadsWaitForRoomThatASpinningKernelHolds) {
  hold_all();
  occupy([this](FakeDriver&) { return launched.load() == 3; }, false);
  const CUdeviceptr fresh = machine.allocate(4 * kPage);  // never touched: it has no bytes anywhere
  std::vector<std::thread> threads;
  for (const CUdeviceptr tensor : {c, fresh, fresh}) {
    threads.emplace_back([this, tensor] {
      EXPECT_TRUE(machine.launch(second, {tensor}, {store(tensor + 8, 5)}).ok());
      ++launched;
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// ---- quiescent windows

class WindowTest : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Modes, WindowTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "detached" : "mapped"; });

// Two threads whose kernels may touch anything: without windows the launches of one would void the moves that
// the other waits for, again and again.
TEST_P(WindowTest, TwoThreadsOfOpaqueKernelsTakeTurns) {
  Machine machine(GetParam(), 24, 0, true);
  const Gpu gpu(machine.fake);
  machine.opaque = !GetParam();  // detached: what may be touched has to be there, all of it
  const auto loop = [&machine](CUstream stream, std::array<CUdeviceptr, 3> tensors) {
    for (std::uint32_t i = 0; i < 60; ++i) {
      const CUdeviceptr t = tensors[i % 3];
      ASSERT_TRUE(machine.launch(stream, {t}, {expect(t, i / 3), store(t, i / 3 + 1)}).ok());
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    const CUstream stream = machine.fake.make_stream();
    const std::array tensors{machine.allocate(8 * kPage), machine.allocate(8 * kPage),
                             machine.allocate(8 * kPage)};
    threads.emplace_back(loop, stream, tensors);
  }
  for (std::thread& thread : threads) thread.join();
  machine.fake.run_everything();
  EXPECT_GT(machine.statistics.evictions.load(), 0u);
  if (machine.opaque) {
    EXPECT_GT(machine.statistics.quiescent_windows.load(), 0u);
  }
  EXPECT_EQ(machine.fake.faults(), std::vector<std::string>{});
}

// One allocation holds everything, as programs with an allocator of their own have it.
TEST(WholeProgramInOneAllocationTest, TensorsComeAndGoByThemselves) {
  Machine machine(false, 16, 0, true);
  const Gpu gpu(machine.fake);
  const CUstream stream = machine.fake.make_stream();
  const CUdeviceptr all = machine.allocate(48 * kPage);
  for (std::uint32_t i = 0; i < 120; ++i) {
    const CUdeviceptr t = all + (i % 6) * 8 * kPage;
    ASSERT_TRUE(machine.launch(stream, {t}, {expect(t, i / 6), store(t, i / 6 + 1)}).ok());
  }
  machine.fake.run_everything();
  EXPECT_GT(machine.statistics.fetches.load(), 0u);
  EXPECT_GT(machine.statistics.quiescent_windows.load(), 0u);
  EXPECT_EQ(machine.fake.faults(), std::vector<std::string>{});
}

// While the driver may be ending the context, and what waits goes on if it has not.
TEST(PauseTest, APausedEngineMakesNoCall) {
  Machine machine(false, 16, 0, true);
  const Gpu gpu(machine.fake);
  const CUstream stream = machine.fake.make_stream();
  const CUdeviceptr a = machine.allocate(8 * kPage);
  machine.memory->pause();
  const std::size_t mapped = machine.fake.calls("cuMemMap");
  std::thread program([&] { EXPECT_TRUE(machine.launch(stream, {a}, {store(a, 1)}).ok()); });
  machine.await_waiting();
  EXPECT_EQ(machine.fake.calls("cuMemMap"), mapped);
  machine.memory->resume();
  program.join();
  EXPECT_GT(machine.fake.calls("cuMemMap"), mapped);
}

}  // namespace
}  // namespace tencache::test
