#include "policy/simulator.hpp"

#include <gtest/gtest.h>

#include "policy/bound.hpp"
#include "policy/planner.hpp"
#include "policy/schedule.hpp"
#include "policy/workload.hpp"
#include "tests/policy/check_schedule.hpp"
#include "tests/policy/random_trace.hpp"

namespace tencache::policy {
namespace {

Trace parsed(const char* text) { return parse_trace(text).value(); }

Outcome simulate(const Step& step, const Machine& machine) {
  Greedy greedy(step);
  return Simulator(step, machine, greedy, Run{}).run();
}

// One kernel that reads 8 MiB, another that reads another 8 MiB, HBM for one: each waits for its own.
TEST(Simulator, WaitsExactlyForTheCopy) {
  const Trace trace = parsed(
      "tensor 0 8388608 persistent\ntensor 1 8388608 persistent\n"
      "kernel a 0.001 reads 0\nkernel b 0.001 reads 1\n");
  const Machine machine{.hbm = 8_MiB, .link = LinkRates::both_ways(8388608.0 * 100), .block = 8_MiB};
  const Outcome outcome = simulate(Step(trace), machine);
  EXPECT_NEAR(outcome.step_seconds, 0.022, 1e-12);
  EXPECT_EQ(outcome.bytes_in, 2.0 * 8388608);
  EXPECT_EQ(outcome.bytes_out, 0);
  EXPECT_EQ(outcome.hit_rate, 0);
}

TEST(Simulator, MovesNothingWhenEverythingFits) {
  const Step step(tests::random_trace(3, 60));
  const Machine machine{.hbm = Bytes(static_cast<std::uint64_t>(step.peak())),
                        .link = LinkRates::both_ways(1e9)};
  const Outcome outcome = simulate(step, machine);
  EXPECT_NEAR(outcome.step_seconds, step.ideal(), 1e-9);
  EXPECT_EQ(outcome.bytes_in, 0);
  EXPECT_EQ(outcome.hit_rate, 1);
}

TEST(Simulator, SaysThatAKernelCannotFit) {
  const Trace trace = parsed("tensor 0 8388608 persistent\nkernel a 0.001 reads 0\n");
  EXPECT_FALSE(simulate(Step(trace), {.hbm = 4_MiB, .link = LinkRates::both_ways(1e9)}).feasible);
}

TEST(Simulator, BothDirectionsAtOnceAreSlower) {
  const Trace trace = parsed(
      "tensor 0 8388608 persistent\ntensor 1 8388608 persistent\ntensor 2 1048576 persistent\n"
      "kernel a 0.001 writes 0\nkernel b 0.001 reads 1\n");
  Machine machine{.hbm = 8_MiB, .link = {1e9, 1e9, 1e9, 1e9}, .block = 1_MiB};
  const double apart = simulate(Step(trace), machine).step_seconds;
  machine.link.in_duplex = machine.link.out_duplex = 0.5e9;
  EXPECT_GT(simulate(Step(trace), machine).step_seconds, apart);
}

TEST(Simulator, MappingDelaysTheKernelByItsBlocks) {
  const Trace trace = parsed(
      "tensor 0 8388608 persistent\ntensor 1 8388608 persistent\n"
      "kernel a 0.001 reads 0\nkernel b 0.001 reads 1\n");
  Machine machine{.hbm = 8_MiB, .link = LinkRates::both_ways(8388608.0 * 100), .block = 8_MiB};
  machine.map_per_block = 60_us;
  EXPECT_NEAR(simulate(Step(trace), machine).step_seconds, 0.022 + 2 * 60e-6, 1e-12);
}

// Unknown writes: what was only read is compared, not copied; the comparison takes GPU time.
// Each kernel of the way there brings into being what takes the mapper longer than the kernel before it runs,
// and from the middle on weights that nothing reads have to go for it. A plan that begins with all of it in
// time is faster.
TEST(Simulator, ARowOfBirthsIsMappedAheadWhereThatIsFaster) {
  constexpr TensorIndex kLayers = 32;
  Trace trace;
  trace.tensors.assign(kLayers, {4_MiB, true});
  trace.tensors.resize(2 * kLayers, {8_MiB, false});
  TraceKernel weights{.name = "weights", .duration = 10_ms};
  for (TensorIndex layer = 0; layer < kLayers; ++layer) weights.reads.push_back(layer);
  trace.kernels.push_back(weights);
  for (TensorIndex layer = 0; layer < kLayers; ++layer)
    trace.kernels.push_back({.name = "there", .duration = 100_us, .writes = {kLayers + layer}});
  for (TensorIndex layer = kLayers; layer-- > 0;)
    trace.kernels.push_back({.name = "back", .duration = 100_us, .reads = {kLayers + layer}});
  const Step step(trace);
  const Machine machine{.hbm = 270_MiB,
                        .link = LinkRates::both_ways(1e11),
                        .block = 1_MiB,
                        .map_per_block = 60_us,
                        .run_ahead = 4_ms};
  Plan plan = make_plan(step, machine);
  EXPECT_TRUE(plan.maps_ahead);
  const double ahead = run_plan(step, machine, plan, {}).step_seconds;
  plan.maps_ahead = false;
  EXPECT_LT(ahead, 0.99 * run_plan(step, machine, plan, {}).step_seconds);
  EXPECT_GE(ahead, lower_bound(step, machine).seconds);
}

TEST(Simulator, FingerprintsSaveTheCopiesOfBytesOnlyRead) {
  const Trace trace = parsed(
      "tensor 0 8388608 persistent\ntensor 1 8388608 persistent\n"
      "kernel a 0.001 reads 0\nkernel b 0.001 reads 1\n");
  Machine machine{.hbm = 8_MiB, .link = LinkRates::both_ways(8388608.0 * 100), .block = 8_MiB};
  machine.writes_known = false;
  machine.fingerprint_rate = 8388608.0 * 1000;
  const Outcome outcome = simulate(Step(trace), machine);
  EXPECT_EQ(outcome.bytes_out, 0);
  EXPECT_NEAR(outcome.step_seconds, 0.024, 1e-12);
}

// A kernel that waits for room for its births, and a fetch for a later one that would take it.
TEST(Simulator, BirthsAndFetchesDoNotTakeRoomFromEachOtherForEver) {
  const Step step(find_workload("bert-large")->generate(*find_gpu("h100")));
  const Bytes quarter(static_cast<std::uint64_t>(step.peak()) / 4);
  const Machine machine{.hbm = quarter, .link = LinkRates::both_ways(15.754 * 1073741824)};
  EXPECT_TRUE(simulate(step, machine).feasible);
}

// Both directions are full: what is dropped although it is needed soon has to come in again.
TEST(Simulator, WithAMarginWhatIsNeededSoonStays) {
  const Step step(find_workload("mixture")->generate(*find_gpu("h100")));
  const Machine machine{.hbm = Bytes(static_cast<std::uint64_t>(step.peak()) * 2 / 5),
                        .link = {55e9, 55e9, 52.8e9, 34.5e9},
                        .block = 64_MiB};
  StepRecord record;
  run_plan(step, machine, Plan(), {.record = &record});
  Plan plan = derive_plan(step, record, machine, 0.02);
  const Outcome without = run_plan(step, machine, plan, {});
  plan.margin = 0.2;
  const Outcome with = run_plan(step, machine, plan, {});
  EXPECT_LT(with.bytes_in, 0.98 * without.bytes_in);
  EXPECT_LT(with.step_seconds, without.step_seconds);
}

class RandomTraces : public testing::TestWithParam<int> {};

TEST_P(RandomTraces, SchedulesAreFeasible) {
  for (int i = 0; i < 20; ++i) {
    const Trace trace = tests::random_trace(GetParam() * 1000 + i, 20 + 5 * i);
    const Step step(trace);
    const std::int64_t hbm = step.peak() * (3 + i % 5) / 8;
    Machine machine{.hbm = Bytes(static_cast<std::uint64_t>(hbm)), .link = {10e9, 8e9, 7e9, 5e9}};
    machine.block = i % 3 == 0 ? 2_MiB : 16_MiB;
    if (i % 4 == 3) machine.run_ahead = 4_ms;
    if (i % 8 == 7) machine.map_per_block = 60_us;
    Plan plan = make_plan(step, machine);
    for (const double margin : {plan.margin, 0.2}) {
      plan.margin = margin;
      Schedule schedule;
      const Outcome outcome = run_plan(step, machine, plan, {.schedule = &schedule});
      plan.maps_ahead = true;
      if (!outcome.feasible) continue;
      EXPECT_EQ(tests::check_schedule(trace, format_schedule(schedule), {hbm, 10e9, 8e9}), "") << i;
      if (i % 10 != 0) continue;
      EXPECT_GE(outcome.step_seconds, lower_bound(step, machine).seconds * (1 - 1e-9)) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTraces, testing::Range(0, 100));

TEST(CheckSchedule, FindsWhatIsWrong) {
  const Trace trace =
      parsed("tensor 0 1000 persistent\ntensor 1 1000 transient\nkernel a 1 reads 0 writes 1\n");
  const tests::CheckedMachine machine{2000, 1000, 1000};
  EXPECT_EQ(tests::check_schedule(trace, "resident 0 0 1000 clean\nrun 0 0 1\nstep 1\n", machine), "");
  const char* wrong[] = {
      "run 0 0 1\nstep 1\n",                                              // absent
      "resident 0 0 1000 clean\nrun 0 0 0.5\nstep 0.5\n",                 // too short
      "resident 0 0 1000 clean\nrun 0 0 1\nstep 2\n",                     // not the end
      "resident 0 0 1000 dirty\ndrop 0 0 10 0\nrun 0 0 1\nstep 1\n",      // dirty drop
      "fetch 0 0 1000 0 0.5\nrun 0 0.5 1.5\nstep 1.5\n",                  // too fast
      "resident 0 0 1000 clean\nwrite 1 0 9 0 0.5\nrun 0 0 1\nstep 1\n",  // not there yet
  };
  for (const char* text : wrong) EXPECT_NE(tests::check_schedule(trace, text, machine), "") << text;
  EXPECT_NE(tests::check_schedule(trace, "resident 0 0 1000 clean\nrun 0 0 1\nstep 1\n", {1500, 1, 1}), "");
}

}  // namespace
}  // namespace tencache::policy
