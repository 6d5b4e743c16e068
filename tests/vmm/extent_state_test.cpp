#include "vmm/extent_state.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tencache::vmm {
namespace {

constexpr int kStates = static_cast<int>(ExtentState::kReleasing) + 1;
constexpr int kEvents = static_cast<int>(ExtentEvent::kFail) + 1;

class EveryTransition : public testing::TestWithParam<Transition> {};

TEST_P(EveryTransition, IsMadeAsTheTableSays) {
  const Transition row = GetParam();
  EXPECT_EQ(advance(row.from, row.event), row.to);
}

INSTANTIATE_TEST_SUITE_P(Table, EveryTransition, testing::ValuesIn(kTransitions), [](const auto& info) {
  std::string text = std::string(name(info.param.from)) + "_on_" + name(info.param.event);
  for (char& c : text) c = c == '-' ? '_' : c;
  return text;
});

TEST(ExtentStateTest, NoPairIsInTheTableTwice) {
  std::set<std::pair<ExtentState, ExtentEvent>> seen;
  for (const Transition& row : kTransitions) EXPECT_TRUE(seen.insert({row.from, row.event}).second);
}

TEST(ExtentStateTest, WhatIsNotInTheTableIsNoTransition) {
  int found = 0;
  for (int state = 0; state < kStates; ++state) {
    for (int event = 0; event < kEvents; ++event) {
      found +=
          next_state(static_cast<ExtentState>(state), static_cast<ExtentEvent>(event)).has_value() ? 1 : 0;
    }
  }
  EXPECT_EQ(found, static_cast<int>(kTransitions.size()));
}

// Rule: an access is never let in while a mapping changes.
TEST(ExtentStateTest, NothingThatChangesCanBeTouched) {
  for (int i = 0; i < kStates; ++i) {
    const auto state = static_cast<ExtentState>(i);
    const bool touchable = next_state(state, ExtentEvent::kTouch).has_value();
    EXPECT_EQ(touchable, usable_in_hbm(state) || usable_on_host(state)) << name(state);
    if (changing(state)) {
      EXPECT_FALSE(touchable) << name(state);
    }
  }
}

TEST(ExtentStateDeathTest, AWrongTransitionStopsTheProcessByName) {
  EXPECT_DEATH((void)advance(ExtentState::kAbsent, ExtentEvent::kCopiedIn), "absent on copied-in");
}

}  // namespace
}  // namespace tencache::vmm
