// What is measured, the plan made from it, and that it is followed.
#include <atomic>
#include <numeric>

#include "tests/policy/training_program.hpp"

namespace tencache::policy {
namespace {

using Direction = Transfer::Direction;
using Beside = Transfer::Beside;

class PlanningTest : public TrainingTest {
 protected:
  void measure_link(double share = 1) {
    for (const Direction direction : {Direction::kIn, Direction::kOut}) {
      for (int i = 0; i < 200; ++i) {
        policy_.copied(
            {direction, Beside::kNothing, 1_MiB, Nanoseconds(static_cast<std::uint64_t>(200'000 / share))});
      }
    }
  }
  // Runs what there is to do; false: nothing.
  bool plan() {
    auto work = policy_.work(residency());
    if (work == nullptr) return false;
    work->run(std::atomic<bool>(false));
    policy_.worked(std::move(work));
    return true;
  }
};

TEST_F(PlanningTest, TheRecordedStepIsTheOneThatRepeats) {
  for (int i = 0; i < 4; ++i) step();
  const auto recorded = policy_.recorded_step();
  ASSERT_TRUE(recorded);
  EXPECT_EQ(recorded->kernels.size(), kPeriod);
  int persistent = 0, transient = 0;
  for (const TraceTensor& tensor : recorded->tensors) (tensor.persistent ? persistent : transient)++;
  EXPECT_EQ(persistent, kLayers);
  EXPECT_EQ(transient, kLayers);
  for (const TraceKernel& kernel : recorded->kernels) EXPECT_EQ(kernel.duration, kTakes);
  // The program goes on half a millisecond after its work has ended.
  EXPECT_EQ(recorded->kernels[5].enqueued_at - recorded->kernels[4].enqueued_at, 500_us);
}

// The kernels of the recorded step that write the tensor of that many uses.
std::vector<std::size_t> writers(const Trace& trace, TensorIndex tensor) {
  std::vector<std::size_t> found;
  for (std::size_t kernel = 0; kernel < trace.kernels.size(); ++kernel) {
    const auto& writes = trace.kernels[kernel].writes;
    if (std::count(writes.begin(), writes.end(), tensor) > 0) found.push_back(kernel);
  }
  return found;
}

// A step begins at the first forward; its first tensor is the weight there, written by the optimizer.
TEST_F(PlanningTest, WhoWritesIsFoundOutByComparing) {
  for (int i = 0; i < 4; ++i) {
    for (int layer = 0; layer < kLayers; ++layer) forward(layer);
    policy_.examined(weights_[0], Finding::kCopied);
    for (int layer = kLayers; layer-- > 0;) backward(layer);
    policy_.examined(weights_[0], Finding::kUnchanged);
    optimizer();
    policy_.examined(weights_[0], Finding::kWritten);
  }
  const auto recorded = policy_.recorded_step();
  ASSERT_TRUE(recorded);
  EXPECT_EQ(writers(*recorded, recorded->kernels[0].reads.at(0)), std::vector<std::size_t>{2 * kLayers});
}

TEST_F(PlanningTest, OfSeveralThatMayHaveWrittenNoneIsBlamed) {
  for (int i = 0; i < 4; ++i) {
    for (int layer = 0; layer < kLayers; ++layer) forward(layer);
    policy_.examined(weights_[0], Finding::kCopied);
    for (int layer = kLayers; layer-- > 0;) backward(layer);
    optimizer();
    policy_.examined(weights_[0], Finding::kWritten);
  }
  const auto recorded = policy_.recorded_step();
  ASSERT_TRUE(recorded);
  EXPECT_EQ(writers(*recorded, recorded->kernels[0].reads.at(0)), std::vector<std::size_t>{});
}

// The layers' functions are the same: what is known of one layer's weight goes for every layer's in a plan.
TEST(RecordedStepTest, WhatIsKnownOfAFunctionsArgumentGoesForAllItsAccesses) {
  History history;
  const auto access = [&](std::uint64_t token, std::vector<Writes> writes) {
    std::vector<ExtentIndex> extents(writes.size());
    std::iota(extents.begin(), extents.end(), 0u);
    history.append(token, {1, 0, {}, token, false, extents, extents}, 3, 1_MiB);
    for (std::size_t i = 0; i < writes.size(); ++i) {
      history.touch(history.add_touch(extents[i], extents[i] + 1, kNoTouch)).writes = writes[i];
    }
  };
  constexpr auto kU = Writes::kUnknown;
  for (int step = 0; step < 4; ++step) {
    access(7, {Writes::kNo, kU, Writes::kNo});
    access(7, {kU, Writes::kYes, Writes::kYes});
    access(8, {kU, kU, kU});
  }
  const auto size = [](const RecordedTouch&) { return 1_MiB; };
  const auto step = recorded_step(history, {12, 3}, size, Touches::kWrite);
  ASSERT_TRUE(step);
  const auto writes = [&](std::size_t kernel) { return step->trace.kernels[kernel].writes.size(); };
  EXPECT_EQ(writes(0) + writes(1) + writes(2), 1 + 2 + 3u);
}

TEST_F(PlanningTest, WithoutMeasuredRatesThereIsNoPlan) {
  for (int i = 0; i < 3; ++i) step();
  EXPECT_EQ(policy_.work(residency()), nullptr);
  measure_link();
  EXPECT_NE(policy_.work(residency()), nullptr);
}

TEST_F(PlanningTest, APlanIsMadeThenRefinedThenMadeAnewWhenTheLinkIsSlower) {
  measure_link();
  EXPECT_FALSE(plan());
  for (int i = 0; i < 3; ++i) step();
  EXPECT_TRUE(plan());
  EXPECT_FALSE(plan());  // one a step at most
  step();
  EXPECT_TRUE(plan());
  for (int i = 0; i < 3; ++i) {
    step();
    EXPECT_FALSE(plan());
  }
  measure_link(0.7);
  step();
  EXPECT_TRUE(plan());
}

TEST_F(PlanningTest, OneWorkAtATime) {
  measure_link();
  for (int i = 0; i < 3; ++i) step();
  const auto work = policy_.work(residency());
  EXPECT_NE(work, nullptr);
  step();
  EXPECT_EQ(policy_.work(residency()), nullptr);
}

TEST_F(PlanningTest, WorkThatWasStoppedChangesNothing) {
  measure_link();
  for (int i = 0; i < 3; ++i) step();
  auto work = policy_.work(residency());
  work->run(std::atomic<bool>(true));
  policy_.worked(std::move(work));
  step();
  EXPECT_TRUE(plan());
}

// Greedy would copy out everything; of the last activations none has to leave before it is used up.
TEST_F(PlanningTest, OnlyWhatWillLeaveIsCopiedOut) {
  measure_link();
  for (int i = 0; i < 3; ++i) step();
  ASSERT_TRUE(plan());
  for (int i = 0; i < kLayers; ++i) forward(i);
  std::vector<ExtentIndex> cleaned;
  while (const auto extent = policy_.next_clean(residency())) {
    ASSERT_LT(cleaned.size(), states_.size());
    states_[*extent].clean = true;
    cleaned.push_back(*extent);
  }
  EXPECT_FALSE(cleaned.empty());
  EXPECT_EQ(std::count(cleaned.begin(), cleaned.end(), activations_.back()), 0);
}

TEST(LinkMeterTest, WhatWasNeverSeenIsTakenFromWhatWas) {
  LinkMeter meter;
  meter.copied({Direction::kIn, Beside::kNothing, 1_MiB, 1_ms});
  EXPECT_FALSE(meter.known());
  meter.copied({Direction::kOut, Beside::kOther, 1_MiB, 2_ms});
  EXPECT_TRUE(meter.known());
  EXPECT_DOUBLE_EQ(meter.rates().in_alone, 1048576e3);
  EXPECT_DOUBLE_EQ(meter.rates().in_duplex, 1048576e3);
  EXPECT_DOUBLE_EQ(meter.rates().out_alone, 524288e3);
}

TEST(CleaningQueueTest, TheSoonestDueComesFirstAndWhatWasTouchedNotAtAll) {
  CleaningQueue queue;
  queue.resize(4);
  queue.put(0, 30);
  queue.put(1, 10);
  queue.put(2, 20);
  queue.put(3, 5);
  queue.remove(3);
  EXPECT_EQ(queue.take(), 1u);
  queue.put_off();
  EXPECT_EQ(queue.take(), 2u);
  queue.put_back();
  EXPECT_EQ(queue.take(), 1u);
  EXPECT_EQ(queue.take(), 0u);
  EXPECT_EQ(queue.take(), std::nullopt);
}

}  // namespace
}  // namespace tencache::policy
