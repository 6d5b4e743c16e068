#include "policy/bound.hpp"

#include <gtest/gtest.h>

#include "policy/schedule.hpp"
#include "policy/strategies.hpp"
#include "tests/policy/check_schedule.hpp"
#include "tests/policy/random_trace.hpp"

namespace tencache::policy {
namespace {

Step parsed(const char* text) { return Step(parse_trace(text).value()); }

constexpr double kRate = 8388608.0 * 100;  // 8 MiB in 10 ms

TEST(Bound, IsTheKernelsAloneWhenEverythingFits) {
  const Step step = parsed("tensor 0 8388608 persistent\nkernel a 0.25 reads 0\n");
  EXPECT_EQ(lower_bound(step, {.hbm = 8_MiB, .link = LinkRates::both_ways(kRate)}).seconds, 0.25);
}

// Two read-only tensors, room for one: each step must fetch both while nothing else fits, exactly as
// simulated.
TEST(Bound, OfAnAlternatingReadIsReached) {
  const Step step = parsed(
      "tensor 0 8388608 persistent\ntensor 1 8388608 persistent\n"
      "kernel a 0.001 reads 0\nkernel b 0.001 reads 1\n");
  const Machine machine{.hbm = 8_MiB, .link = LinkRates::both_ways(kRate), .block = 8_MiB};
  const Bound bound = lower_bound(step, machine);
  EXPECT_EQ(bound.minimum_bytes, 2.0 * 8388608);
  EXPECT_DOUBLE_EQ(bound.traffic, 0.02);
  EXPECT_LE(bound.seconds, find_strategy("plan")->run(step, machine, {}).step_seconds);
  EXPECT_GE(bound.seconds, 0.0195);
}

TEST(Bound, FewestBytesAreBeladys) {
  // Three tensors read in turn, room for two: one of them is missed every time but one in three.
  const Step step = parsed(
      "tensor 0 100 persistent\ntensor 1 100 persistent\ntensor 2 100 persistent\n"
      "kernel a 1 reads 0\nkernel b 1 reads 1\nkernel c 1 reads 2\nkernel b 1 reads 1\n");
  EXPECT_EQ(minimum_fetch_bytes(step, 300), 0);
  EXPECT_EQ(minimum_fetch_bytes(step, 200), 200);
}

// A tensor read, another read and written, room for one: each step brings in two and takes one out. Where the
// directions share the link's rate, all three count, which windows do not see.
TEST(Bound, PricesSeeThatBothDirectionsShareALink) {
  const Step step = parsed(
      "tensor 0 8388608 persistent\ntensor 1 8388608 persistent\n"
      "kernel a 0.001 reads 0\nkernel b 0.001 reads 1 writes 1\n");
  const Machine machine{.hbm = 8_MiB, .link = {kRate, kRate, kRate / 2, kRate / 2}, .block = 8_MiB};
  const double achieved = find_strategy("plan")->run(step, machine, {}).step_seconds;
  EXPECT_NEAR(achieved, 0.032, 1e-6);
  EXPECT_GE(lower_bound(step, machine, achieved).price, 0.030);
  EXPECT_LE(lower_bound(step, machine, achieved).price, achieved);
}

class EveryStrategy : public testing::TestWithParam<StrategyRow> {};

TEST_P(EveryStrategy, IsFeasibleAndNeverBelowTheBound) {
  int feasible = 0;
  for (unsigned i = 0; i < 60; ++i) {
    const Trace trace = tests::random_trace(i + 77, 15 + i);
    const Step step(trace);
    const std::int64_t hbm = step.peak() * (3 + i % 5) / 8;
    Machine machine{.hbm = Bytes(static_cast<std::uint64_t>(hbm)), .link = {10e9, 8e9, 7e9, 5e9}};
    machine.block = 8_MiB;
    Schedule schedule;
    const Outcome outcome = GetParam().run(step, machine, {.schedule = &schedule});
    if (!outcome.feasible) continue;
    ++feasible;
    EXPECT_EQ(tests::check_schedule(trace, format_schedule(schedule), {hbm, 10e9, 8e9}), "") << i;
    const Bound bound = lower_bound(step, machine, outcome.step_seconds);
    EXPECT_GE(outcome.step_seconds, bound.seconds * (1 - 1e-9)) << i;
  }
  EXPECT_GT(feasible, 20);
}

INSTANTIATE_TEST_SUITE_P(Strategies, EveryStrategy,
                         testing::ValuesIn(strategies().begin(), strategies().end()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tencache::policy
