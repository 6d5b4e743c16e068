// Addresses in memory: a kernel that is given a table and follows what it holds, in memory that moves.
#include "tests/vmm/memory_harness.hpp"

namespace tencache::test {
namespace {

using Census = vmm::Settings::Census;

class CensusTest : public testing::TestWithParam<bool> {
 protected:
  CensusTest() : machine(GetParam(), 9, 0, true), gpu(machine.fake) {
    stream = machine.fake.make_stream();
    table = machine.allocate(kPage);
    for (CUdeviceptr& tensor : tensors) tensor = machine.allocate(4 * kPage);
  }
  ~CensusTest() override {
    machine.fake.run_everything();
    EXPECT_EQ(machine.fake.faults(), std::vector<std::string>{});
  }

  // A kernel's way of keeping an address.
  static FakeDriver::Step keep(CUdeviceptr at, CUdeviceptr address) {
    return [=](FakeDriver& gpu) {
      gpu.store(at, static_cast<std::uint32_t>(address));
      gpu.store(at + 4, static_cast<std::uint32_t>(address >> 32));
    };
  }
  static CUdeviceptr follow(FakeDriver& gpu, CUdeviceptr at) {
    return gpu.load(at) | static_cast<CUdeviceptr>(gpu.load(at + 4)) << 32;
  }
  FakeDriver::Step store_through(std::uint32_t value) const {
    return [at = table, value](FakeDriver& gpu) { gpu.store(follow(gpu, at), value); };
  }
  // Everything else is used, so that what is not known to be needed goes.
  void use_others() {
    for (std::size_t i = 1; i < tensors.size(); ++i) {
      ASSERT_TRUE(machine.launch(stream, {tensors[i]}, {store(tensors[i], 1)}, 10).ok());
    }
  }

  Machine machine;
  Gpu gpu;
  CUstream stream;
  CUdeviceptr table;
  std::array<CUdeviceptr, 4> tensors{};
};

INSTANTIATE_TEST_SUITE_P(Modes, CensusTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "detached" : "mapped"; });

TEST_P(CensusTest, WhatWasKeptBeforeMemoryRanShortIsFound) {
  ASSERT_TRUE(
      machine.launch(stream, {table, tensors[0]}, {keep(table, tensors[0]), store(tensors[0], 3)}, 2).ok());
  use_others();
  ASSERT_TRUE(machine.launch(stream, {table}, {store_through(4)}, 3).ok());
  use_others();
  ASSERT_TRUE(machine.launch(stream, {tensors[0]}, {expect(tensors[0], 4)}, 4).ok());
  EXPECT_GT(machine.statistics.census_runs.load(), 0u);
}

TEST_P(CensusTest, WhatAKernelKeepsWhileMemoryMovesIsFound) {
  for (std::uint32_t round = 0; round < 12; ++round) {
    use_others();
    const CUdeviceptr target = tensors[round % 2 == 0 ? 0 : 2];
    ASSERT_TRUE(machine.launch(stream, {table, target}, {keep(table, target)}, 2).ok());
    use_others();
    ASSERT_TRUE(machine.launch(stream, {table}, {store_through(round)}, 3).ok());
    use_others();
    if (target == tensors[0]) {
      ASSERT_TRUE(machine.launch(stream, {target}, {expect(target, round)}, 4).ok());
    }
  }
}

TEST_P(CensusTest, WhatACopyBringsIsKnownAtOnce) {
  use_others();
  vmm::AccessAsk copy;
  copy.stream = stream;
  copy.thread = 1;
  copy.ranges[0] = {table, 8_B};
  copy.addresses = {tensors.data(), 1};
  Result<vmm::InFlight*> admitted = machine.memory->admit(copy);
  ASSERT_TRUE(admitted.ok());
  machine.fake.launch(stream, {keep(table, tensors[0])});
  machine.memory->leave(*admitted, stream);
  use_others();
  ASSERT_TRUE(machine.launch(stream, {table}, {store_through(6)}, 3).ok());
  use_others();
  ASSERT_TRUE(machine.launch(stream, {tensors[0]}, {expect(tensors[0], 6)}, 4).ok());
}

}  // namespace
}  // namespace tencache::test
