#include "policy/lru.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace tencache::policy {
namespace {

class LeastRecentlyUsedTest : public testing::Test {
 protected:
  // Extents 0 … count-1, created in this order, all in HBM.
  void create(ExtentIndex count) {
    for (ExtentIndex extent = 0; extent < count; ++extent) create_one(extent);
  }
  void create_one(ExtentIndex extent) {
    lru_.extent_created({extent, extent, extent, 1_MiB, 0_B, 1_MiB});
    states_[extent] = {Tier::kHbm, true, false, false, false, 1_MiB};
  }
  void destroy(ExtentIndex extent) {
    lru_.extent_destroyed(extent);
    states_[extent] = {};
  }
  void access(std::vector<ExtentIndex> touched) {
    lru_.access({++number_, 0, 0_ns, 0, false, touched, touched});
  }
  std::optional<ExtentIndex> victim() { return lru_.victim({Extents(states_), 0_B, 8_MiB, 8_MiB, 0_ns}); }
  // Takes victims out until none is left.
  std::vector<ExtentIndex> eviction_order() {
    std::vector<ExtentIndex> order;
    for (std::optional<ExtentIndex> next = victim(); next; next = victim()) {
      order.push_back(*next);
      states_[*next].tier = Tier::kHost;
    }
    return order;
  }

  LeastRecentlyUsed lru_;
  std::array<ExtentState, 8> states_{};
  std::uint64_t number_ = 0;
};

using Order = std::vector<ExtentIndex>;

TEST_F(LeastRecentlyUsedTest, NothingToPutOutAtFirst) { EXPECT_EQ(victim(), std::nullopt); }

TEST_F(LeastRecentlyUsedTest, UntouchedExtentsGoInTheOrderOfCreation) {
  create(4);
  EXPECT_EQ(eviction_order(), (Order{0, 1, 2, 3}));
}

TEST_F(LeastRecentlyUsedTest, AnAccessMovesItsExtentsToTheEndInTheirOrder) {
  create(5);
  access({0, 3});
  access({1});
  access({0});
  EXPECT_EQ(eviction_order(), (Order{2, 4, 3, 1, 0}));
}

TEST_F(LeastRecentlyUsedTest, AnExtentTouchedTwiceByOneAccessIsLinkedOnce) {
  create(3);
  access({0, 0});
  EXPECT_EQ(eviction_order(), (Order{1, 2, 0}));
}

TEST_F(LeastRecentlyUsedTest, OnlyExtentsInHbmNeitherHeldNorMovingQualify) {
  create(5);
  states_[0].tier = Tier::kHost;
  states_[1].held = true;
  states_[2].moving = true;
  states_[3].tier = Tier::kNone;
  EXPECT_EQ(victim(), ExtentIndex{4});
  states_[4].held = true;
  EXPECT_EQ(victim(), std::nullopt);
}

TEST_F(LeastRecentlyUsedTest, MayTouchAloneIsNoUse) {
  create(2);
  const Order all{0, 1}, none{};
  lru_.access({1, 0, 0_ns, 0, false, none, all});
  EXPECT_EQ(eviction_order(), (Order{0, 1}));
}

TEST_F(LeastRecentlyUsedTest, ADestroyedExtentIsForgottenAndItsIndexReused) {
  create(3);
  destroy(0);
  EXPECT_EQ(victim(), ExtentIndex{1});
  create_one(0);
  EXPECT_EQ(eviction_order(), (Order{1, 2, 0}));
}

TEST_F(LeastRecentlyUsedTest, ACyclicProgramEvictsExactlyWhatItNeedsNext) {
  create(3);
  Order evicted;
  for (int step = 0; step < 6; ++step) {
    access({static_cast<ExtentIndex>(step % 3)});
    evicted.push_back(*victim());
  }
  EXPECT_EQ(evicted, (Order{1, 2, 0, 1, 2, 0}));
}

TEST_F(LeastRecentlyUsedTest, NothingIsMovedAhead) {
  create(2);
  const Residency residency{Extents(states_), 8_MiB, 8_MiB, 8_MiB, 0_ns};
  EXPECT_EQ(lru_.next_fetch(residency), std::nullopt);
  EXPECT_EQ(lru_.next_clean(residency), std::nullopt);
}

}  // namespace
}  // namespace tencache::policy
