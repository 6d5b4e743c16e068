#include <random>

#include "tests/policy/training_program.hpp"

namespace tencache::policy {
namespace {

TEST_F(TrainingTest, TheStepIsKnownAfterTwo) {
  step();
  step();
  EXPECT_TRUE(policy_.cursor().locked());
  EXPECT_EQ(policy_.cursor().lag(), kPeriod);
}

TEST_F(TrainingTest, WhatIsMissingAndNearestComesFirst) {
  for (int i = 0; i < 3; ++i) step();
  put_out(weights_[5]);
  put_out(weights_[3]);
  EXPECT_EQ(policy_.next_fetch(residency(4_MiB)), std::nullopt);  // four activations come before it
  EXPECT_EQ(policy_.next_fetch(residency(5_MiB)), weights_[3]);
  states_[weights_[3]].moving = true;
  EXPECT_EQ(policy_.next_fetch(residency(8_MiB)), weights_[5]);
}

TEST_F(TrainingTest, TheFarthestCleanLeaves) {
  for (int i = 0; i < 3; ++i) step();
  for (int i = 0; i < 6; ++i) forward(i);  // weight 5 is next used last of the first six, the others sooner
  for (ExtentState& state : states_) state.clean = true;
  states_[weights_[0]].clean = false;
  EXPECT_EQ(policy_.victim(residency()), activations_[0]);
  EXPECT_EQ(policy_.next_clean(residency()), weights_[0]);
}

// What is dirty and farther must not hide what was only read.
TEST_F(TrainingTest, TheFarthestCleanLeavesThoughSomethingDirtyIsFarther) {
  for (int i = 0; i < 3; ++i) step();
  for (int i = 0; i < 6; ++i) forward(i);
  for (int i = 0; i < 6; ++i) states_[weights_[i]].clean = true;
  EXPECT_EQ(policy_.victim(residency()), weights_[0]);
}

TEST_F(TrainingTest, ActivationsStandForThoseOfTheStepBefore) {
  for (int i = 0; i < 2; ++i) step();
  for (int i = 0; i < kLayers; ++i) forward(i);
  put_out(activations_[20]);
  put_out(activations_[22]);
  EXPECT_EQ(policy_.next_fetch(residency(4_MiB)), activations_[22]);
}

TEST_F(TrainingTest, AStrangeAccessIsPassedOver) {
  for (int i = 0; i < 2; ++i) step();
  for (int i = 0; i < 10; ++i) forward(i);
  const ExtentIndex log = create();
  access(77, {log});
  destroy(log);
  for (int i = 10; i < kLayers; ++i) forward(i);
  EXPECT_TRUE(policy_.cursor().following());
  EXPECT_EQ(policy_.cursor().lag(), kPeriod + 1);
  put_out(activations_[3]);
  EXPECT_EQ(policy_.next_fetch(residency(4_MiB)), activations_[3]);
}

TEST_F(TrainingTest, AnEvaluationInBetweenCostsLittle) {
  for (int i = 0; i < 2; ++i) step();
  for (int i = 0; i < kLayers; ++i) access(1, {weights_[i]});
  EXPECT_FALSE(policy_.cursor().locked());
  for (int i = 0; i < 10; ++i) forward(i);
  EXPECT_TRUE(policy_.cursor().following());
  put_out(weights_[15]);
  EXPECT_EQ(policy_.next_fetch(residency(8_MiB)), weights_[15]);
}

TEST_F(TrainingTest, MicroStepsAreToldApartByWhatCameBefore) {
  const auto accumulated = [&] {
    for (int i = 0; i < 3; ++i) micro_step();
    optimizer();
  };
  accumulated();
  accumulated();
  EXPECT_TRUE(policy_.cursor().locked());
  EXPECT_EQ(policy_.cursor().lag(), 7 * kLayers);
}

TEST_F(TrainingTest, OrderMayVaryALittle) {
  for (int i = 0; i < 2; ++i) step();
  for (int i = 0; i < kLayers; i += 2) {
    activations_.resize(activations_.size() + 2);
    activations_.end()[-2] = create();
    activations_.end()[-1] = create();
    access(1, {weights_[i + 1], activations_.end()[-1]});
    access(1, {weights_[i], activations_.end()[-2]});
  }
  EXPECT_TRUE(policy_.cursor().following());
  EXPECT_EQ(policy_.cursor().lag(), kPeriod);
}

TEST_F(LearningTest, NothingMovesWhileAllFits) {
  const ExtentIndex a = create(), b = create();
  for (int i = 0; i < 100; ++i) access(1, {a}), access(2, {b});
  EXPECT_EQ(policy_.next_clean(residency()), std::nullopt);
  EXPECT_EQ(policy_.next_fetch(residency()), std::nullopt);
}

TEST_F(LearningTest, WithoutAPatternWhatWasAccessedLongestAgoLeaves) {
  std::vector<ExtentIndex> extents;
  for (int i = 0; i < 6; ++i) extents.push_back(create());
  for (const std::uint64_t i : {0, 1, 2, 3, 4, 5, 0}) access(100 + i, {extents[i]});
  EXPECT_EQ(policy_.victim(residency()), extents[1]);
}

TEST_F(LearningTest, RandomAccessesAreNeverTakenForAStep) {
  std::mt19937_64 random(5);
  std::vector<ExtentIndex> extents;
  for (int i = 0; i < 16; ++i) extents.push_back(create());
  for (int i = 0; i < 200'000; ++i) {
    access(random() % 4, {extents[random() % 16]});
    ASSERT_FALSE(policy_.cursor().locked());
  }
}

}  // namespace
}  // namespace tencache::policy
