// Freed memory and free blocks go back to the driver when nobody asks for them again.
#include "tests/vmm/memory_harness.hpp"

namespace tencache::test {
namespace {

class IdleMemoryTest : public testing::Test {
 protected:
  IdleMemoryTest() : machine(false, 16) { stream = machine.fake.make_stream(); }
  ~IdleMemoryTest() override { EXPECT_EQ(machine.fake.faults(), std::vector<std::string>{}); }

  // Allocates, uses and frees, with the engine's turns made here.
  void step() {
    const CUdeviceptr a = machine.allocate(6 * kPage);
    std::atomic<bool> done{false};
    std::thread program([&] {
      EXPECT_TRUE(machine.launch(stream, {a}, {store(a, 1)}).ok());
      done = true;
    });
    while (!done) {
      machine.turns(1);
      machine.fake.run_everything();
    }
    program.join();
    machine.fake.run_everything();
    machine.memory->context_waited(machine.memory->last_number());
    ASSERT_TRUE(machine.memory->free_now(a));
  }
  void a_look_later() {
    machine.clock.advance(vmm::Engine::kLooksForIdleEvery);
    machine.turns(8);
  }

  Machine machine;
  CUstream stream;
};

TEST_F(IdleMemoryTest, WhatWasFreedTwoLooksAgoGoesBack) {
  machine.turns(1);
  step();
  const std::size_t created = machine.fake.hbm_created();
  EXPECT_GE(created, 6 * kPage);
  a_look_later();
  EXPECT_EQ(machine.fake.hbm_created(), created);
  a_look_later();
  a_look_later();
  EXPECT_EQ(machine.fake.hbm_created(), 0u);
  step();  // and comes again
  EXPECT_GE(machine.fake.hbm_created(), 6 * kPage);
}

TEST_F(IdleMemoryTest, WhatASteadyStepAsksForAgainStays) {
  machine.turns(1);
  step();
  const std::uint64_t created = machine.statistics.blocks_created;
  const std::uint64_t mapped = machine.statistics.mapping_calls;
  for (int i = 0; i < 5; ++i) {
    a_look_later();
    step();
  }
  EXPECT_EQ(machine.statistics.blocks_created.load(), created);
  EXPECT_EQ(machine.statistics.mapping_calls.load(), mapped);
}

// What a call that passes through takes of the device: all but `left` of it.
class OthersMemory {
 public:
  OthersMemory(FakeDriver& fake, std::size_t size) : driver_(fake.driver()) {
    CUmemAllocationProp where{};
    where.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    where.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    EXPECT_EQ(driver_.cuMemCreate(&handle_, size, &where, 0), CUDA_SUCCESS);
  }
  void free() const { EXPECT_EQ(driver_.cuMemRelease(handle_), CUDA_SUCCESS); }

 private:
  const Driver& driver_;
  CUmemGenericAllocationHandle handle_ = 0;
};

class LoweredBudgetTest : public IdleMemoryTest {
 protected:
  static constexpr std::size_t kAll = 4 * 16 * kPage;  // of the device; a quarter is the budget
  void lower(std::uint64_t pages) {
    std::atomic<bool> done{false};
    std::thread program([&] {
      EXPECT_TRUE(machine.memory->give_back_to_driver(Bytes(pages * kPage), 1000_ms));
      done = true;
    });
    while (!done) machine.turns(1);
    program.join();
  }
  void expect_budget(std::uint64_t pages) {
    const auto figures = machine.memory->figures();
    EXPECT_EQ(figures.hbm_budget, Bytes(pages * kPage));
    EXPECT_EQ(figures.capacity, whole - Bytes((16 - pages) * kPage));
  }
  const Bytes whole = machine.memory->figures().capacity;
};

// The blocks are in use and do not go back in time. The budget is lowered, so less may be promised.
TEST_F(LoweredBudgetTest, WhatComesTooLateIsWithheldAllTheSame) {
  machine.turns(1);
  step();
  EXPECT_FALSE(machine.memory->give_back_to_driver(Bytes(12 * kPage), 0_ns));
  EXPECT_FALSE(machine.memory->give_back_to_driver(Bytes(2 * kPage), 0_ns));
  machine.turns(8);
  expect_budget(2);
}

TEST_F(LoweredBudgetTest, ItRisesWhenWhatItWasLoweredForHasBeenFreeForTwoLooks) {
  lower(6);
  const OthersMemory others(machine.fake, kAll - 10 * kPage);
  for (int i = 0; i < 3; ++i) a_look_later();
  expect_budget(10);
  others.free();
  a_look_later();
  expect_budget(10);
  a_look_later();
  expect_budget(16);
}

TEST_F(LoweredBudgetTest, ItRisesByNoMoreThanIsFree) {
  lower(6);
  const OthersMemory most(machine.fake, kAll - 13 * kPage);
  for (int i = 0; i < 3; ++i) a_look_later();
  expect_budget(13);
  most.free();
  for (int i = 0; i < 2; ++i) a_look_later();
  expect_budget(16);
}

TEST_F(LoweredBudgetTest, WhatIsAskedForAgainBetweenTwoLooksIsLeft) {
  lower(6);
  for (int i = 0; i < 4; ++i) {
    const OthersMemory others(machine.fake, kAll - 10 * kPage);
    a_look_later();
    others.free();
  }
  expect_budget(10);
  a_look_later();  // free
  lower(2);        // and asked for
  a_look_later();
  expect_budget(8);
}

TEST_F(IdleMemoryTest, WhoAsksGetsItBackAtOnce) {
  machine.turns(1);
  step();
  std::atomic<bool> done{false};
  std::thread program([&] {
    machine.memory->give_idle_back();
    done = true;
  });
  while (!done) machine.turns(1);
  program.join();
  EXPECT_EQ(machine.fake.hbm_created(), 0u);
}

}  // namespace
}  // namespace tencache::test
