// Addresses in memory: a kernel that is given a table and follows what it holds, in memory that moves.
#include "tests/vmm/memory_harness.hpp"

namespace tencache::test {
namespace {

using Census = vmm::Settings::Census;

// A kernel's way of keeping an address.
FakeDriver::Step keep(CUdeviceptr at, CUdeviceptr address) {
  return [=](FakeDriver& gpu) {
    gpu.store(at, static_cast<std::uint32_t>(address));
    gpu.store(at + 4, static_cast<std::uint32_t>(address >> 32));
  };
}

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

// A function that copied addresses where they were known already has shown nothing about what it writes.
TEST_P(CensusTest, AFunctionThatWroteKnownAddressesIsNotTrusted) {
  const CUdeviceptr copied = machine.allocate(kPage);
  const CUdeviceptr fresh = machine.allocate(kPage);
  use_others();
  for (const CUdeviceptr at : {table, copied}) {
    ASSERT_TRUE(machine.launch(stream, {at}, {keep(at, tensors[0])}, 2).ok());
  }
  for (int round = 0; round < 8; ++round) {
    use_others();
    ASSERT_TRUE(machine.launch(stream, {table, copied}, {keep(copied, tensors[0])}, 5).ok());
  }
  use_others();
  ASSERT_TRUE(machine.launch(stream, {copied, fresh}, {keep(fresh, tensors[0])}, 5).ok());
  use_others();
  table = fresh;
  ASSERT_TRUE(machine.launch(stream, {table}, {store_through(8)}, 3).ok());
  ASSERT_TRUE(machine.launch(stream, {tensors[0]}, {expect(tensors[0], 8)}, 4).ok());
}

// Whether the kernel before has ended cannot be known until the capture ends, and that waits for the copy.
TEST_P(CensusTest, WhatIsOnlyRecordedWaitsForNoCensus) {
  use_others();
  machine.fake.capture_alive = true;
  ASSERT_TRUE(machine.launch(CU_STREAM_LEGACY, {table}, {keep(table, tensors[0])}, 2).ok());
  vmm::AccessAsk copy;
  copy.stream = stream;
  copy.thread = 1;
  copy.enqueues = false;
  copy.ranges[0] = {table, 8_B};
  const Result<vmm::InFlight*> admitted = machine.memory->admit(copy);
  ASSERT_TRUE(admitted.ok());
  machine.memory->leave(*admitted, stream);
  machine.fake.capture_alive = false;
  use_others();
  ASSERT_TRUE(machine.launch(stream, {table}, {store_through(9)}, 3).ok());
  ASSERT_TRUE(machine.launch(stream, {tensors[0]}, {expect(tensors[0], 9)}, 4).ok());
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

// Turn by turn: the test says when a census has read and when it is heard of.
class CensusTurnTest : public testing::Test {
 protected:
  CensusTurnTest() : machine(false, 9) {
    stream = machine.fake.make_stream();
    table = machine.allocate(kPage);
    held = machine.allocate(kPage);
    from = machine.allocate(kPage);
    use(machine.allocate(4 * kPage));
    use(machine.allocate(4 * kPage));
    use(held);
    use(from);
    use(table);  // more than HBM holds: something has to leave
    settle();
  }

  // The program's thread does something; meanwhile the engine takes turns, and the GPU works or does not.
  void program_does(bool gpu_works, const std::function<void()>& something) {
    std::atomic<bool> ended{false};
    std::thread program([&] {
      something();
      ended = true;
    });
    while (!ended) {
      machine.turns(1);
      if (gpu_works) machine.fake.run_everything();
    }
    program.join();
  }
  void launch(const std::vector<CUdeviceptr>& pointers, const std::vector<FakeDriver::Step>& steps,
              std::uint64_t signature) {
    program_does(true, [&] { EXPECT_TRUE(machine.launch(stream, pointers, steps, signature).ok()); });
  }
  void use(CUdeviceptr tensor) { launch({tensor}, {store(tensor, 0)}, 1); }
  void settle() {
    for (int turn = 0; turn < 20; ++turn) {
      machine.turns(1);
      machine.fake.run_everything();
    }
  }
  vmm::Group& group_at(CUdeviceptr address) {
    vmm::MemoryState& state = machine.memory->state();
    return state.groups[state.units.group_at(address)];
  }
  // A census of the table has begun and cannot have read what comes now.
  void begin_census() {
    launch({table}, {store(table, 0)}, 77);
    machine.fake.run_everything();
    for (int turn = 0; !group_at(table).in_census && turn < 20; ++turn) machine.turns(1);
    ASSERT_TRUE(group_at(table).in_census);
    ASSERT_TRUE(group_at(table).writers.empty());
  }
  void copy(const vmm::AccessAsk& given) {
    vmm::AccessAsk ask = given;
    ask.stream = stream;
    ask.thread = 1;
    ask.may_use_aliases = true;  // it waits for the census no longer than the way out allows
    ask.ranges[0] = {table, 8_B};
    program_does(false, [&] {
      const Result<vmm::InFlight*> admitted = machine.memory->admit(ask);
      ASSERT_TRUE(admitted.ok());
      machine.memory->leave(*admitted, stream);
    });
  }
  bool table_holds(CUdeviceptr address) {
    const auto& holds = group_at(table).holds;
    return std::count(holds.begin(), holds.end(), machine.memory->state().units.group_at(address)) > 0;
  }

  Machine machine;
  CUstream stream;
  CUdeviceptr table, held, from;
};

TEST_F(CensusTurnTest, WhatACopyBringsWhileACensusReadsIsNotForgotten) {
  begin_census();
  vmm::AccessAsk ask;
  ask.addresses = {&held, 1};
  copy(ask);
  EXPECT_TRUE(table_holds(held));
  settle();
  EXPECT_TRUE(table_holds(held));
}

// Small allocations that share an extent and point to one another: who copies that takes addresses along.
TEST_F(CensusTurnTest, AddressesOfItsOwnAreCopiedLikeOthers) {
  const CUdeviceptr small = machine.allocate(512);
  launch({small}, {keep(small, small + 64)}, 9);
  settle();
  vmm::AccessAsk ask;
  ask.copies = true;
  ask.ranges[1] = {small, 8_B};
  copy(ask);
  EXPECT_TRUE(table_holds(small));
}

TEST_F(CensusTurnTest, NobodyIsBlamedForWhatFreedMemoryStillSays) {
  const auto trusted = [this] { return machine.memory->state().learned.trusted(9); };
  const std::array small{machine.allocate(512), machine.allocate(512)};
  launch({small[0]}, {keep(small[0], held)}, 10);
  settle();
  machine.memory->context_waited(machine.memory->last_number());
  for (const CUdeviceptr address : small) ASSERT_TRUE(machine.memory->free_now(address));
  for (int round = 0; round < 5; ++round) {
    launch({from}, {store(from, 1)}, 9);
    settle();
  }
  ASSERT_TRUE(trusted());
  machine.memory->state().settings.census = vmm::Settings::Census::kAlways;
  ASSERT_EQ(machine.allocate(512), small[1]);
  launch({small[1]}, {store(small[1], 1)}, 9);
  settle();
  EXPECT_TRUE(trusted());
}

TEST_F(CensusTurnTest, WhatACopyMayBringWhileACensusReadsIsLookedForAgain) {
  begin_census();
  group_at(from).suspect = true;  // as behind a kernel that wrote to it
  vmm::AccessAsk ask;
  ask.copies = true;
  ask.ranges[1] = {from, 8_B};
  copy(ask);
  machine.fake.run_everything();
  machine.turns(1);  // hears of the census's end
  EXPECT_TRUE(group_at(table).suspect);
  settle();
  EXPECT_FALSE(group_at(table).suspect);
}

}  // namespace
}  // namespace tencache::test
