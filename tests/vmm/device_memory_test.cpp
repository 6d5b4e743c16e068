#include "tests/vmm/memory_harness.hpp"

namespace tencache::test {
namespace {

using vmm::ExtentState;

class DeviceMemoryTest : public testing::TestWithParam<bool> {
 protected:
  // Lets a launch in that has to wait, with the engine's turns made from a second thread of control: the
  // machine has a thread of its own here.
  DeviceMemoryTest() : machine(GetParam(), 16, 0, true) { stream = machine.fake.make_stream(); }
  ~DeviceMemoryTest() override { EXPECT_EQ(machine.fake.faults(), std::vector<std::string>{}); }
  bool detached() const { return GetParam(); }

  Machine machine;
  CUstream stream;
};

INSTANTIATE_TEST_SUITE_P(Modes, DeviceMemoryTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "detached" : "mapped"; });

TEST_P(DeviceMemoryTest, MemoryIsZeroAtFirstTouchAndKeepsWhatIsStored) {
  const Gpu gpu(machine.fake);
  const CUdeviceptr a = machine.allocate(10 * kPage);
  EXPECT_FALSE(machine.fake.mapped(a));  // lazy
  ASSERT_TRUE(machine.launch(stream, {a}, {expect(a, 0), expect(a + 10 * kPage - 4, 0), store(a, 7)}).ok());
  ASSERT_TRUE(machine.launch(stream, {a}, {expect(a, 7)}).ok());
}

TEST_P(DeviceMemoryTest, MoreThanHbmKeepsItsBytes) {
  const Gpu gpu(machine.fake);
  std::vector<CUdeviceptr> tensors;
  for (std::uint32_t i = 0; i < 8; ++i) tensors.push_back(machine.allocate(6 * kPage));
  for (std::uint32_t round = 0; round < 4; ++round) {
    for (std::uint32_t i = 0; i < tensors.size(); ++i) {
      const CUdeviceptr t = tensors[i];
      const std::uint32_t before = round == 0 ? 0 : 100 * (round - 1) + i;
      ASSERT_TRUE(machine
                      .launch(stream, {t},
                              {expect(t, before), expect(t + 5 * kPage, before), store(t, 100 * round + i),
                               store(t + 5 * kPage, 100 * round + i)})
                      .ok());
    }
  }
  EXPECT_GT(machine.statistics.evictions.load(), 0u);
  EXPECT_LE(machine.statistics.hbm_peak.load(), machine.settings.hbm_budget.count());
}

TEST_P(DeviceMemoryTest, NothingIsCreatedOrMappedInASteadyStepThatFits) {
  const Gpu gpu(machine.fake);
  const auto step = [&] {
    const CUdeviceptr a = machine.allocate(5 * kPage);
    const CUdeviceptr b = machine.allocate(100);
    ASSERT_TRUE(machine.launch(stream, {a, b}, {store(a, 1)}).ok());
    machine.fake.run_all(stream);
    machine.memory->context_waited(machine.memory->last_number());
    ASSERT_TRUE(machine.memory->free_now(a));
    ASSERT_TRUE(machine.memory->free_now(b));
  };
  step();
  const std::uint64_t created = machine.statistics.blocks_created;
  const std::uint64_t mapped = machine.statistics.mapping_calls;
  for (int i = 0; i < 5; ++i) step();
  EXPECT_EQ(machine.statistics.blocks_created.load(), created);
  if (!detached()) {
    EXPECT_EQ(machine.statistics.mapping_calls.load(), mapped);
  }
}

TEST_P(DeviceMemoryTest, OneAccessLargerThanHbm) {
  const Gpu gpu(machine.fake);
  const CUdeviceptr big = machine.allocate(20 * kPage);
  ASSERT_NE(big, 0u);
  const Status status = machine.launch(stream, {big}, {store(big, 1), store(big + 19 * kPage, 2)});
  EXPECT_EQ(status.code(), detached() ? StatusCode::kOutOfMemory : StatusCode::kOk);
  if (!detached()) {
    ASSERT_TRUE(machine.launch(stream, {big}, {expect(big, 1), expect(big + 19 * kPage, 2)}).ok());
  }
}

TEST_P(DeviceMemoryTest, TheFastPathIsOpenUntilMemoryRunsShort) {
  const Gpu gpu(machine.fake);
  const CUdeviceptr a = machine.allocate(8 * kPage);
  const std::array pointers{a};
  EXPECT_FALSE(machine.memory->enter_fast(stream, pointers));  // it has no bytes yet
  ASSERT_TRUE(machine.launch(stream, {a}, {store(a, 1)}).ok());
  ASSERT_TRUE(machine.memory->enter_fast(stream, pointers));
  std::atomic<bool> let_in{false};
  const CUdeviceptr b = machine.allocate(16 * kPage);
  std::thread other([&] {
    EXPECT_TRUE(machine.launch(stream, {b}, {store(b, 1)}).ok());  // a has to go for it
    let_in = true;
  });
  machine.await_waiting();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  // This thread is about to launch: nothing changes meanwhile (mapped: b may be let in from the host).
  EXPECT_TRUE(machine.fake.mapped(a));
  EXPECT_EQ(machine.statistics.evictions.load(), 0u);
  if (detached()) {
    EXPECT_FALSE(let_in);
  }
  machine.fake.launch(stream, {expect(a, 1)});
  machine.memory->left_fast();
  other.join();
  EXPECT_FALSE(machine.memory->enter_fast(stream, pointers));
}

TEST_P(DeviceMemoryTest, TheFastPathOpensAgainWhenAShortageIsOver) {
  const Gpu gpu(machine.fake);
  const CUdeviceptr a = machine.allocate(8 * kPage);
  const CUdeviceptr b = machine.allocate(12 * kPage);
  ASSERT_TRUE(machine.launch(stream, {a}, {store(a, 1)}).ok());
  ASSERT_TRUE(machine.launch(stream, {b}, {store(b, 2)}).ok());  // a has to go, partly
  machine.fake.run_all(stream);
  machine.memory->context_waited(machine.memory->last_number());
  ASSERT_TRUE(machine.memory->free_now(b));
  const std::array pointers{a};
  for (bool open = false; !open;) {
    ASSERT_TRUE(machine.launch(stream, {a}, {expect(a, 1)}).ok());
    machine.clock.advance(60_ms);
    open = machine.memory->enter_fast(stream, pointers);
  }
  machine.fake.launch(stream, {expect(a, 1)});
  machine.memory->left_fast();
  const std::uint64_t evictions = machine.statistics.evictions;
  const CUdeviceptr c = machine.allocate(12 * kPage);  // and memory runs short once more
  ASSERT_TRUE(machine.launch(stream, {c}, {expect(c, 0), store(c, 3)}).ok());
  ASSERT_TRUE(machine.launch(stream, {a}, {expect(a, 1)}).ok());
  EXPECT_GT(machine.statistics.evictions.load(), evictions);
}

TEST_P(DeviceMemoryTest, TheAccountIsStrict) {
  EXPECT_EQ(machine.allocate(1ull << 40), 0u);
  std::vector<CUdeviceptr> all;
  while (const CUdeviceptr more = machine.allocate(8 * kPage)) all.push_back(more);
  const auto figures = machine.memory->figures();
  EXPECT_LE(figures.charged, figures.capacity);
  EXPECT_GT(figures.charged + Bytes(8 * kPage), figures.capacity);
  ASSERT_TRUE(machine.memory->free_now(all.back()));
  EXPECT_EQ(machine.allocate(8 * kPage), all.back());  // the last freed comes first
}

TEST_P(DeviceMemoryTest, FreesAnswerAsTheDriver) {
  const CUdeviceptr a = machine.allocate(8 * kPage);
  EXPECT_FALSE(machine.memory->free_now(a + 256));
  EXPECT_TRUE(machine.memory->free_now(a));
  EXPECT_FALSE(machine.memory->free_now(a));
  const CUdeviceptr small = machine.allocate(64);
  EXPECT_FALSE(machine.memory->free_now(small + 32));
  EXPECT_TRUE(machine.memory->free_now(small));
  EXPECT_FALSE(machine.memory->free_now(small));
}

class DetachedTest : public testing::TestWithParam<std::uint64_t> {};

INSTANTIATE_TEST_SUITE_P(Sizes, DetachedTest, testing::Values(8 * kPage, 100));

TEST_P(DetachedTest, FreedMemoryIsDead) {
  Machine machine(true, 16, 0, true);
  const CUstream stream = machine.fake.make_stream();
  const CUdeviceptr a = machine.allocate(GetParam());
  {
    const Gpu gpu(machine.fake);
    ASSERT_TRUE(machine.launch(stream, {a}, {store(a, 1)}).ok());
  }
  machine.memory->context_waited(machine.memory->last_number());
  EXPECT_TRUE(machine.fake.mapped(a));
  ASSERT_TRUE(machine.memory->free_now(a));
  EXPECT_FALSE(machine.fake.mapped(a));
  const Gpu gpu(machine.fake);
  ASSERT_EQ(machine.allocate(GetParam()), a);  // and lives again as fresh memory
  ASSERT_TRUE(machine.launch(stream, {a}, {expect(a, 0)}).ok());
}

TEST_P(DeviceMemoryTest, ASlabThatNothingLivesInIsGivenUpLikeAnyFreedMemory) {
  const Gpu gpu(machine.fake);
  const Bytes before = machine.memory->figures().charged;
  std::vector<CUdeviceptr> small;
  for (int i = 0; i < 100; ++i) small.push_back(machine.allocate(512));
  for (const CUdeviceptr address : small)
    ASSERT_TRUE(machine.launch(stream, {address}, {store(address, 1)}).ok());
  EXPECT_GT(machine.memory->figures().charged, before);
  machine.fake.run_everything();
  machine.memory->context_waited(machine.memory->last_number());
  for (const CUdeviceptr address : small) ASSERT_TRUE(machine.memory->free_now(address));
  EXPECT_EQ(machine.memory->figures().charged, before);
  const CUdeviceptr big = machine.allocate(16 * kPage);  // all of HBM
  ASSERT_TRUE(machine.launch(stream, {big}, {store(big, 1)}).ok());
  EXPECT_EQ(machine.statistics.evictions.load(), 0u);
}

// ---- a fault of the program's own

TEST_P(DeviceMemoryTest, WhoWaitsPassesOnceTheContextIsLost) {
  std::atomic<bool> spinning{true};
  const CUdeviceptr a = machine.allocate(16 * kPage);
  const CUdeviceptr b = machine.allocate(16 * kPage);
  {
    const Gpu gpu(machine.fake);
    ASSERT_TRUE(machine.launch(stream, {a}, {store(a, 1)}).ok());
  }
  const std::array pointers{a};
  const auto ask = machine.kernel(stream, pointers);
  Result<vmm::InFlight*> holder = machine.memory->admit(ask);  // it holds all of HBM
  ASSERT_TRUE(holder.ok());
  machine.fake.launch_waiting(stream, [&](FakeDriver&) { return !spinning; });
  machine.memory->leave(*holder, stream);
  const std::array fresh{b};
  std::thread other([&] { EXPECT_TRUE(machine.memory->admit(machine.kernel(stream, fresh)).ok()); });
  if (detached()) machine.await_waiting();
  machine.fake.lose_context(CUDA_ERROR_ILLEGAL_ADDRESS);
  other.join();
  if (detached()) {
    EXPECT_TRUE(machine.memory->context_lost());  // mapped: the way out may have come first
  }
  spinning = false;
}

TEST_P(DeviceMemoryTest, WhatTheProgramWasToldNeedNotBeFoundOut) {
  machine.memory->hear(CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_FALSE(machine.memory->context_lost());
  machine.memory->hear(CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_TRUE(machine.memory->context_lost());
  const std::array never_touched{machine.allocate(kPage)};
  const Result<vmm::InFlight*> access = machine.memory->admit(machine.kernel(stream, never_touched));
  EXPECT_TRUE(access.ok() && !(*access)->from_host);  // the driver has the answer, no block of ours
}

// ---- the engine, turn by turn

class TurnTest : public testing::TestWithParam<bool> {
 protected:
  TurnTest() : machine(GetParam(), 8, 0, false, vmm::Settings::Census::kOff) {
    stream = machine.fake.make_stream();
    out = machine.fake.streams()[2];  // made by the copier, before ours
    in = machine.fake.streams()[3];
  }
  ~TurnTest() override { EXPECT_EQ(machine.fake.faults(), std::vector<std::string>{}); }

  // Touches `address` from a second thread while this one makes turns and lets our copies run.
  void bring_in(CUdeviceptr address) {
    std::atomic<bool> done{false};
    std::thread program([&] {
      EXPECT_TRUE(machine.launch(stream, {address}, {store(address, 1)}).ok());
      done = true;
    });
    while (!done) {
      machine.turns(1);
      machine.fake.run_all(in);
      machine.fake.run_all(out);
      machine.fake.run_all(stream);
    }
    program.join();
    machine.fake.run_all(stream);
  }

  Machine machine;
  CUstream stream;
  CUstream out;
  CUstream in;
};

INSTANTIATE_TEST_SUITE_P(Modes, TurnTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "detached" : "mapped"; });

TEST_P(TurnTest, ATouchOfALeavingExtentCancelsTheMove) {
  const CUdeviceptr a = machine.allocate(4 * kPage);
  const CUdeviceptr b = machine.allocate(4 * kPage);
  const CUdeviceptr c = machine.allocate(4 * kPage);
  bring_in(a);
  bring_in(b);
  std::atomic<bool> done{false};
  std::thread program([&] {
    EXPECT_TRUE(machine.launch(stream, {c}, {store(c, 3)}).ok());
    done = true;
  });
  while (machine.extent_at(a).state != ExtentState::kLeaving) {
    machine.turns(1);
    machine.fake.run_all(stream);
  }
  // The copy is under way; now the program stores, which the copy may or may not have seen.
  machine.fake.run_step(out);
  ASSERT_TRUE(machine.launch(stream, {a}, {store(a, 77), store(a + 4 * kPage - 4, 78)}).ok());
  EXPECT_EQ(machine.extent_at(a).state, ExtentState::kResident);
  EXPECT_EQ(machine.statistics.cancels.load(), 1u);
  while (!done) {
    machine.turns(1);
    machine.fake.run_everything();
  }
  program.join();
  std::atomic<bool> read{false};
  std::thread reader([&] {
    EXPECT_TRUE(machine.launch(stream, {a}, {expect(a, 77), expect(a + 4 * kPage - 4, 78)}).ok());
    read = true;
  });
  while (!read) {
    machine.turns(1);
    machine.fake.run_everything();
  }
  reader.join();
  machine.fake.run_everything();
}

TEST_P(TurnTest, NoMappingChangesUnderAKernelThatMayTouchIt) {
  const CUdeviceptr a = machine.allocate(4 * kPage);
  const CUdeviceptr b = machine.allocate(4 * kPage);
  const CUdeviceptr c = machine.allocate(4 * kPage);
  bring_in(a);
  bring_in(b);
  const CUstream other = machine.fake.make_stream();
  ASSERT_TRUE(machine.launch(other, {a, b}, {store(a, 5), store(a, 6), store(b, 7), store(b, 8)}).ok());
  ASSERT_TRUE(machine.fake.run_step(other));  // it runs, and stays running
  std::atomic<bool> done{false};
  std::thread program([&] {
    EXPECT_TRUE(machine.launch(stream, {c}, {store(c, 3)}).ok());
    done = true;
  });
  machine.await_waiting();
  for (int i = 0; i < 50; ++i) {
    machine.turns(1);
    machine.fake.run_all(in);
    machine.fake.run_all(out);
  }
  EXPECT_EQ(machine.extent_at(a).state, ExtentState::kResident);
  EXPECT_EQ(machine.extent_at(b).state, ExtentState::kResident);
  machine.fake.run_all(other);
  while (!done) {
    machine.turns(1);
    machine.fake.run_everything();
  }
  program.join();
  machine.fake.run_everything();
}

TEST_P(TurnTest, WhatTheAdvisorNamesComesInAndIsCleanedAheadOfItsNeed) {
  const CUdeviceptr a = machine.allocate(4 * kPage);
  const CUdeviceptr b = machine.allocate(4 * kPage);
  const CUdeviceptr c = machine.allocate(4 * kPage);
  bring_in(a);
  bring_in(b);
  bring_in(c);  // a has to go
  const auto work = [&] {
    for (int i = 0; i < 20; ++i) {
      machine.turns(1);
      machine.fake.run_everything();
    }
  };
  ASSERT_EQ(machine.extent_at(a).state, ExtentState::kOut);
  machine.advisor.clean = machine.index_at(c);
  work();
  EXPECT_EQ(machine.extent_at(c).state, ExtentState::kResident);
  EXPECT_TRUE(machine.extent_at(c).host_current);
  const std::uint64_t bytes_out = machine.statistics.bytes_out;
  machine.advisor.worst = true;  // c goes first
  machine.advisor.fetch = machine.index_at(a);
  work();
  EXPECT_EQ(machine.extent_at(a).state, ExtentState::kResident);
  EXPECT_EQ(machine.extent_at(c).state, ExtentState::kOut);
  EXPECT_EQ(machine.statistics.bytes_out.load(), bytes_out);  // it was clean
  EXPECT_EQ(machine.statistics.clean_drops.load(), 1u);
  machine.advisor.fetch.reset();
  machine.advisor.clean.reset();
  bring_in(c);
  machine.advisor.worst = false;
  ASSERT_TRUE(machine.launch(stream, {c}, {expect(c, 1)}).ok());
  machine.fake.run_everything();
}

TEST(RefusalTest, WithoutAnotherBlockOneIsUsedAgain) {
  Machine machine(true, 8, 0, true);
  const CUstream stream = machine.fake.make_stream();
  const Gpu gpu(machine.fake);
  const CUdeviceptr a = machine.allocate(4 * kPage);
  const CUdeviceptr b = machine.allocate(4 * kPage);
  ASSERT_TRUE(machine.launch(stream, {a}, {store(a, 1)}).ok());
  machine.fake.fail_next("cuMemCreate", CUDA_ERROR_OUT_OF_MEMORY);
  ASSERT_TRUE(machine.launch(stream, {b}, {store(b, 2)}).ok());
  ASSERT_TRUE(machine.launch(stream, {a}, {expect(a, 1)}).ok());
  EXPECT_EQ(machine.statistics.blocks_refused.load(), 1u);
}

TEST(RefusalTest, AFailedCopyLosesNothing) {
  Machine machine(true, 8, 0, true);
  const CUstream stream = machine.fake.make_stream();
  const Gpu gpu(machine.fake);
  const CUdeviceptr a = machine.allocate(4 * kPage);
  const CUdeviceptr b = machine.allocate(4 * kPage);
  const CUdeviceptr c = machine.allocate(4 * kPage);
  ASSERT_TRUE(machine.launch(stream, {a}, {store(a, 1)}).ok());
  ASSERT_TRUE(machine.launch(stream, {b}, {store(b, 2)}).ok());
  machine.fake.fail_next("cuMemcpyDtoHAsync_v2", CUDA_ERROR_UNKNOWN);
  ASSERT_TRUE(machine.launch(stream, {c}, {store(c, 3)}).ok());
  ASSERT_TRUE(machine.launch(stream, {a, b}, {expect(a, 1), expect(b, 2)}).ok());
  EXPECT_EQ(machine.fake.faults(), std::vector<std::string>{});
}

}  // namespace
}  // namespace tencache::test
