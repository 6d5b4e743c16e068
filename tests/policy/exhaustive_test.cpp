// Steps so small that every schedule can be looked at: a block a tensor, a tick a copy, whole ticks a kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "policy/bound.hpp"
#include "policy/planner.hpp"

namespace tencache::policy {
namespace {

constexpr std::int64_t kBlock = 1'000'000;
constexpr double kTick = 1e-3;

struct SmallKernel {
  unsigned reads = 0, writes = 0;  // bits of tensors
  int ticks = 1;
};

struct SmallStep {
  int tensors = 0, room = 0;  // blocks
  std::vector<SmallKernel> kernels;
};

SmallStep random_step(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  SmallStep step;
  step.tensors = 3 + static_cast<int>(random() % 2);
  step.room = step.tensors == 4 && random() % 4 != 0 ? 3 : 2;
  for (std::uint64_t n = 3 + random() % 4; n > 0; --n) {
    SmallKernel kernel{1u << (random() % step.tensors), 0, 1 + static_cast<int>(random() % 2)};
    const unsigned other = 1u << (random() % step.tensors);
    if (random() % 3 != 0) (random() % 2 == 0 ? kernel.reads : kernel.writes) |= other;
    step.kernels.push_back(kernel);
  }
  return step;
}

Trace trace_of(const SmallStep& small) {
  Trace trace;
  for (int i = 0; i < small.tensors; ++i) trace.tensors.push_back({Bytes(kBlock), true});
  for (const SmallKernel& kernel : small.kernels) {
    TraceKernel row{.name = "k",
                    .duration = Nanoseconds(static_cast<std::uint64_t>(kernel.ticks) * 1'000'000)};
    for (TensorIndex i = 0; i < trace.tensors.size(); ++i) {
      if ((kernel.reads >> i & 1) != 0) row.reads.push_back(i);
      if ((kernel.writes >> i & 1) != 0) row.writes.push_back(i);
    }
    trace.kernels.push_back(row);
  }
  return trace;
}

// Every state of the machine at a tick, and every tick that can follow.
class AllSchedules {
 public:
  explicit AllSchedules(const SmallStep& step) : step_(step) {
    for (int i = 0; i < step.tensors; ++i) places_ *= 3;
    ticks_of_.resize(states());
    for (int state = 0; state < states(); ++state) follow(state);
  }

  // Whether some way of running step after step takes less than so many ticks each: a cycle that gains.
  [[nodiscard]] bool can_be_faster_than(double ticks) const {
    std::vector<double> best(ticks_of_.size(), 0);
    for (std::size_t round = 0; round <= ticks_of_.size(); ++round) {
      bool changed = false;
      for (std::size_t state = 0; state < ticks_of_.size(); ++state) {
        for (const Tick& tick : ticks_of_[state]) {
          const double cost = best[state] + 1 - (tick.ends_step ? ticks : 0);
          if (cost < best[static_cast<std::size_t>(tick.to)] - 1e-9) {
            best[static_cast<std::size_t>(tick.to)] = cost;
            changed = true;
          }
        }
      }
      if (!changed) return false;
    }
    return true;
  }

 private:
  enum Place : int { kAbsent, kClean, kDirty };
  static constexpr int kNoTensor = -1;
  struct Tick {
    int to;
    bool ends_step;
  };
  struct State {
    int kernel = 0, left = 0;  // ticks of it that are left; 0: not started
    std::array<int, 4> place{};
  };

  [[nodiscard]] int states() const { return places_ * static_cast<int>(step_.kernels.size()) * 3; }
  [[nodiscard]] State decode(int index) const {
    State state;
    for (int i = 0; i < step_.tensors; ++i, index /= 3) state.place[static_cast<std::size_t>(i)] = index % 3;
    state.left = index % 3;
    state.kernel = index / 3;
    return state;
  }
  [[nodiscard]] int encode(const State& state) const {
    int index = state.kernel * 3 + state.left;
    for (int i = step_.tensors; i-- > 0;) index = index * 3 + state.place[static_cast<std::size_t>(i)];
    return index;
  }

  void follow(int index) {
    const State state = decode(index);
    const SmallKernel& kernel = step_.kernels[static_cast<std::size_t>(state.kernel)];
    const auto there =
        step_.tensors - std::count(state.place.begin(), state.place.begin() + step_.tensors, kAbsent);
    if (there > step_.room || (state.left > 0 && state.left >= kernel.ticks)) return;  // cannot be
    for (int drop = kNoTensor; drop < step_.tensors; ++drop) {
      State dropped = state;
      if (drop != kNoTensor && !take(dropped, drop, kClean, kAbsent)) continue;
      start(index, dropped, state.left > 0);
    }
  }
  static bool take(State& state, int tensor, int from, int to) {
    int& place = state.place[static_cast<std::size_t>(tensor)];
    if (place != from) return false;
    place = to;
    return true;
  }

  // The kernel runs in this tick if it is under way, and may if it is not.
  void start(int index, const State& state, bool under_way) {
    const SmallKernel& kernel = step_.kernels[static_cast<std::size_t>(state.kernel)];
    bool there = true;
    int used = 0;
    for (int i = 0; i < step_.tensors; ++i) {
      const bool present = state.place[static_cast<std::size_t>(i)] != kAbsent;
      used += present ? 1 : 0;
      if (((kernel.reads | kernel.writes) >> i & 1) != 0) there = there && present;
    }
    if (under_way && !there) return;  // dropped under it
    for (int fetch = kNoTensor; fetch < step_.tensors; ++fetch) {
      State fetched = state;
      if (fetch != kNoTensor && (used >= step_.room || !take(fetched, fetch, kAbsent, kClean))) continue;
      if (there) write(index, fetched, true);
      if (!under_way) write(index, fetched, false);
    }
  }

  void write(int index, const State& state, bool runs) {
    const SmallKernel& kernel = step_.kernels[static_cast<std::size_t>(state.kernel)];
    for (int out = kNoTensor; out < step_.tensors; ++out) {
      State next = state;
      if (out != kNoTensor && runs && (kernel.writes >> out & 1) != 0) continue;
      if (out != kNoTensor && !take(next, out, kDirty, kClean)) continue;
      if (!runs) {
        ticks_of_[static_cast<std::size_t>(index)].push_back({encode(next), false});
        continue;
      }
      next.left = (state.left > 0 ? state.left : kernel.ticks) - 1;
      if (next.left == 0) end(kernel, next);
      ticks_of_[static_cast<std::size_t>(index)].push_back(
          {encode(next), next.left == 0 && next.kernel == 0});
    }
  }
  void end(const SmallKernel& kernel, State& state) const {
    for (int i = 0; i < step_.tensors; ++i) {
      if ((kernel.writes >> i & 1) != 0) state.place[static_cast<std::size_t>(i)] = kDirty;
    }
    state.kernel = (state.kernel + 1) % static_cast<int>(step_.kernels.size());
  }

  const SmallStep& step_;
  int places_ = 1;
  std::vector<std::vector<Tick>> ticks_of_;
};

TEST(Exhaustive, TheBoundHoldsForEveryScheduleAndThePlanIsTheBest) {
  constexpr int kSteps = 300;
  for (int seed = 0; seed < kSteps; ++seed) {
    const SmallStep small = random_step(static_cast<std::uint64_t>(seed));
    const Step step(trace_of(small));
    Machine machine{.hbm = Bytes(static_cast<std::uint64_t>(small.room) * kBlock),
                    .link = LinkRates::both_ways(kBlock / kTick),
                    .block = Bytes(kBlock)};
    const double ours = run_plan(step, machine, make_plan(step, machine), {.steps = 64}).step_seconds;
    const Bound bound = lower_bound(step, machine, ours);
    const AllSchedules all(small);
    EXPECT_FALSE(all.can_be_faster_than(bound.seconds / kTick - 1e-6)) << seed;
    EXPECT_TRUE(all.can_be_faster_than(ours / kTick + 1e-6)) << seed;
    EXPECT_FALSE(all.can_be_faster_than(ours / kTick - 1e-6)) << seed;
  }
}

}  // namespace
}  // namespace tencache::policy
