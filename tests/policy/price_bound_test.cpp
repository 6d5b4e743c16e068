// Prices prove a bound whatever they are; good ones prove what a schedule reaches.
#include "policy/price_bound.hpp"

#include <gtest/gtest.h>

#include <random>

#include "policy/planner.hpp"
#include "tests/policy/random_trace.hpp"

namespace tencache::policy {
namespace {

constexpr double kRate = 8388608.0 * 100;  // 8 MiB in 10 ms
constexpr LinkRates kShared{kRate, kRate, kRate / 2, kRate / 2};

Step parsed(const char* text) { return Step(parse_trace(text).value()); }

std::vector<double> all(PriceSlot slots, double price) {
  return std::vector<double>(static_cast<std::size_t>(slots), price);
}

TEST(PriceProblemTest, TensorsAlikeAreOne) {
  const Step step = parsed(
      "tensor 0 1000000 persistent\ntensor 1 3000000 persistent\ntensor 2 1000000 persistent\n"
      "kernel a 0.001 reads 0 1\nkernel b 0.001 reads 2\nkernel c 0.001 reads 2\n");
  const PriceProblem problem = price_problem(step, 4000000, kShared, 64);
  ASSERT_EQ(problem.slots(), 3);
  ASSERT_EQ(problem.epochs.size(), 2u);
  EXPECT_NEAR(problem.epochs[0].bytes + problem.epochs[1].bytes, 0.005, 1e-12);
}

// What is written before anything else must be copied out as well, be the kernel's part of the step large or
// small.
TEST(PriceProblemTest, WhatTheFirstKernelWritesHasNoCopy) {
  const Step step = parsed(
      "tensor 0 1000000 persistent\ntensor 1 9000000 persistent\n"
      "kernel a 0.000001 writes 0\nkernel b 0.001 reads 1\nkernel c 0.001 reads 1\n");
  bool found = false;
  for (const auto& epoch : price_problem(step, 9500000, kShared, 2).epochs) found |= epoch.written == 0;
  EXPECT_TRUE(found);
}

// Two tensors, one read, one written, room for one; the directions share the link: three copies, 30 ms, of
// which 2 ms pass under the kernels.
TEST(PriceBoundTest, GoodPricesProveWhatIsReached) {
  const Step step = parsed(
      "tensor 0 8388608 persistent\ntensor 1 8388608 persistent\n"
      "kernel a 0.001 reads 0\nkernel b 0.001 reads 1 writes 1\n");
  PriceBound bound(price_problem(step, 8388608, kShared, 64), step.ideal());
  const PriceSlot slots = bound.problem().slots();
  ASSERT_EQ(bound.problem().sides.size(), 1u);
  EXPECT_NEAR(bound.proven({all(slots, 1000), {all(slots, 1)}}), 0.028, 1e-12);
  EXPECT_EQ(bound.proven({all(slots, 0), {all(slots, 0)}}), 0);
}

TEST(PriceBoundTest, NoPricesProveMoreThanIsReached) {
  std::mt19937_64 random(3);
  for (unsigned seed = 1; seed < 40; ++seed) {
    const Step step(tests::random_trace(seed, 40));
    const std::int64_t hbm = step.peak() * 5 / 8;
    Machine machine{.hbm = Bytes(static_cast<std::uint64_t>(hbm)), .link = {10e9, 8e9, 7e9, 5e9}};
    machine.block = 8_MiB;
    const Outcome outcome = run_plan(step, machine, make_plan(step, machine), {});
    if (!outcome.feasible) continue;
    PriceBound bound(price_problem(step, hbm, machine.link, 32), step.ideal());
    const PriceSlot slots = bound.problem().slots();
    for (int i = 0; i < 20; ++i) {
      PriceBound::Prices prices{all(slots, 0), {all(slots, 0), all(slots, 0)}};
      for (double& price : prices.room) price = 1e-2 * static_cast<double>(random() % 1000);
      for (auto& side : prices.side) {
        for (double& price : side) price = 1e-3 * static_cast<double>(random() % 1500);
      }
      EXPECT_LE(step.ideal() + bound.proven(prices), outcome.step_seconds * (1 + 1e-9)) << seed;
    }
  }
}

}  // namespace
}  // namespace tencache::policy
