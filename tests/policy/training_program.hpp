// A program on a pretend GPU and what the mechanism does for it, to hold the learning policy against.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "policy/learning.hpp"

namespace tencache::policy {

// A program on a pretend GPU: extents of 1 MiB, accesses one after the other, and the mechanism's part: what
// an access touches is in HBM afterwards and dirty.
class LearningTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kCapacity = 8;  // MiB of HBM
  static constexpr Nanoseconds kTakes = 500_us;  // an access

  ExtentIndex create() {
    ExtentIndex extent = static_cast<ExtentIndex>(states_.size());
    if (unused_.empty()) {
      states_.emplace_back();
    } else {
      extent = unused_.back();
      unused_.pop_back();
    }
    states_[extent] = {Tier::kNone, true, false, false, false, 1_MiB};
    policy_.extent_created({extent, extent, ++created_, 1_MiB, 0_B, 1_MiB});
    return extent;
  }
  void destroy(ExtentIndex extent) {
    policy_.extent_destroyed(extent);
    states_[extent] = {};
    unused_.push_back(extent);
  }
  void access(std::uint64_t signature, std::vector<ExtentIndex> touched) {
    now_ += 1_ms;
    policy_.access({++number_, 0, now_, signature, false, touched, touched});
    policy_.completed(0, number_, now_, now_ + kTakes);
    for (const ExtentIndex extent : touched) {
      states_[extent].tier = Tier::kHbm;
      states_[extent].clean = false;
    }
  }
  void put_out(ExtentIndex extent) {
    states_[extent].tier = Tier::kHost;
    states_[extent].clean = true;
  }
  [[nodiscard]] Residency residency(Bytes free = 0_B) const {
    return {Extents(states_), free, Bytes(kCapacity << 20), 1_GiB, now_};
  }

  Learning policy_;
  std::vector<ExtentState> states_;
  std::vector<ExtentIndex> unused_;
  std::uint64_t created_ = 0, number_ = 0;
  Nanoseconds now_;
};

// A step over `layers` weights: forwards, each making an activation, and backwards, each using it up. The
// layers are alike, so that a signature alone does not say where the step is.
class TrainingTest : public LearningTest {
 protected:
  void SetUp() override {
    for (int i = 0; i < kLayers; ++i) weights_.push_back(create());
  }
  void forward(int layer) {
    activations_.push_back(create());
    access(1, {weights_[layer], activations_.back()});
  }
  void backward(int layer) {
    access(2, {weights_[layer], activations_.back()});
    destroy(activations_.back());
    activations_.pop_back();
  }
  void micro_step() {
    for (int i = 0; i < kLayers; ++i) forward(i);
    for (int i = kLayers; i-- > 0;) backward(i);
  }
  void optimizer() {
    for (const ExtentIndex weight : weights_) access(3, {weight});
  }
  void step() {
    micro_step();
    optimizer();
  }

  static constexpr int kLayers = 24;
  static constexpr std::uint64_t kPeriod = 3 * kLayers;
  std::vector<ExtentIndex> weights_;
  std::vector<ExtentIndex> activations_;
};

}  // namespace tencache::policy
