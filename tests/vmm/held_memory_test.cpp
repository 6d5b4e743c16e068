// Memory that may not leave its place, and memory that every kernel may touch.
#include "tests/vmm/memory_harness.hpp"

namespace tencache::test {
namespace {

using vmm::ExtentState;

class HeldMemoryTest : public testing::TestWithParam<bool> {
 protected:
  HeldMemoryTest() : machine(GetParam(), 16, 0, true), gpu(machine.fake) {
    stream = machine.fake.make_stream();
    for (std::uint32_t i = 0; i < 4; ++i) others.push_back(machine.allocate(6 * kPage));
  }
  ~HeldMemoryTest() override { EXPECT_EQ(machine.fake.faults(), std::vector<std::string>{}); }

  // More than HBM holds passes through it, one after the other.
  void press() {
    for (int round = 0; round < 3; ++round) {
      for (const CUdeviceptr other : others) {
        ASSERT_TRUE(machine.launch(stream, {other}, {store(other, 1)}).ok());
      }
    }
  }
  ExtentState state_of(CUdeviceptr address) {
    const std::lock_guard<std::mutex> lock(machine.memory->state().mutex);
    return machine.extent_at(address).state;
  }
  const vmm::Block* block_of(CUdeviceptr address) {
    const std::lock_guard<std::mutex> lock(machine.memory->state().mutex);
    return machine.extent_at(address).hbm;
  }

  Machine machine;
  const Gpu gpu;
  CUstream stream;
  std::vector<CUdeviceptr> others;
};

INSTANTIATE_TEST_SUITE_P(Modes, HeldMemoryTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "detached" : "mapped"; });

TEST_P(HeldMemoryTest, FrozenMemoryStaysInItsBlock) {
  const CUdeviceptr a = machine.allocate(4 * kPage);
  ASSERT_TRUE(machine.launch(stream, {a}, {store(a, 7)}).ok());
  ASSERT_TRUE(machine.memory->freeze(a + 100, 1));
  const vmm::Block* const block = block_of(a);
  ASSERT_NE(block, nullptr);
  press();
  EXPECT_EQ(block_of(a), block);
  EXPECT_EQ(state_of(a), ExtentState::kResident);
  ASSERT_TRUE(machine.launch(stream, {a}, {expect(a, 7)}).ok());
}

TEST_P(HeldMemoryTest, WhatIsFrozenComesInFirst) {
  const CUdeviceptr a = machine.allocate(4 * kPage);
  ASSERT_TRUE(machine.launch(stream, {a}, {store(a, 7)}).ok());
  press();
  ASSERT_EQ(state_of(a), ExtentState::kOut);
  ASSERT_TRUE(machine.memory->freeze(a, 1));
  EXPECT_EQ(state_of(a), ExtentState::kResident);
  ASSERT_TRUE(machine.launch(stream, {a}, {expect(a, 7)}).ok());
}

TEST_P(HeldMemoryTest, AFreeThaws) {
  const CUdeviceptr a = machine.allocate(4 * kPage);
  ASSERT_TRUE(machine.memory->freeze(a, 1));
  machine.memory->context_waited(machine.memory->last_number());
  ASSERT_TRUE(machine.memory->free_now(a));
  const CUdeviceptr b = machine.allocate(4 * kPage);
  ASSERT_TRUE(machine.launch(stream, {b}, {store(b, 9)}).ok());
  press();
  EXPECT_EQ(state_of(b), ExtentState::kOut);
}

TEST_P(HeldMemoryTest, NoMoreThanHalfOfHbmCanBeFrozen) {
  EXPECT_FALSE(machine.memory->freeze(machine.allocate(20 * kPage), 1));
  const CUdeviceptr a = machine.allocate(5 * kPage);
  EXPECT_TRUE(machine.memory->freeze(a, 1));
  EXPECT_FALSE(machine.memory->freeze(others[0], 1));
  machine.memory->context_waited(machine.memory->last_number());
  ASSERT_TRUE(machine.memory->free_now(a));
  EXPECT_TRUE(machine.memory->freeze(others[0], 1));
}

TEST_P(HeldMemoryTest, MemoryOfNobodyNeedsNoFreezing) {
  EXPECT_TRUE(machine.memory->freeze(others[0] + 7 * kPage, 1));
}

// The kernel reads what the descriptor names, which no parameter of its says.
TEST_P(HeldMemoryTest, HeldMemoryMayBeTouchedByEveryKernel) {
  const CUdeviceptr a = machine.allocate(4 * kPage);
  const CUdeviceptr b = machine.allocate(4 * kPage);
  ASSERT_TRUE(machine.launch(stream, {a}, {store(a, 7)}).ok());
  const std::uint64_t first = machine.memory->hold(a);
  const std::uint64_t second = machine.memory->hold(a);
  machine.memory->let_go(first);
  for (int round = 0; round < 3; ++round) {
    press();
    ASSERT_TRUE(machine.launch(stream, {b}, {expect(a, 7), store(b, 1), expect(a, 7)}).ok());
  }
  machine.memory->let_go(second);
  press();
  ASSERT_TRUE(machine.launch(stream, {b}, {store(b, 1)}).ok());
  EXPECT_EQ(state_of(a), ExtentState::kOut);
}

// A descriptor may be destroyed after its memory was freed and another has the address.
TEST_P(HeldMemoryTest, AHoldEndsWithItsAllocation) {
  const CUdeviceptr a = machine.allocate(4 * kPage);
  ASSERT_TRUE(machine.launch(stream, {a}, {store(a, 7)}).ok());
  const std::uint64_t hold = machine.memory->hold(a);
  machine.memory->hold_until_freed(a);
  machine.memory->hold_until_freed(a + kPage);
  EXPECT_EQ(machine.memory->state().described.size(), 2u);
  machine.fake.run_everything();
  machine.memory->context_waited(machine.memory->last_number());
  ASSERT_TRUE(machine.memory->free_now(a));
  EXPECT_TRUE(machine.memory->state().described.empty());
  ASSERT_EQ(machine.allocate(4 * kPage), a);
  machine.memory->hold(a);
  machine.memory->let_go(hold);
  EXPECT_EQ(machine.memory->state().described.size(), 1u);
}

}  // namespace
}  // namespace tencache::test
