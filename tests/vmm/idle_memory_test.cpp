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
