#include "policy/strategies.hpp"

#include <algorithm>
#include <memory>

#include "policy/belady.hpp"
#include "policy/learning.hpp"
#include "policy/lru.hpp"
#include "policy/planner.hpp"
#include "policy/policy_strategy.hpp"
#include "policy/sliding_window.hpp"
#include "policy/successor_table.hpp"
#include "policy/uvm_like.hpp"

namespace tencache::policy {
namespace {

Outcome simulate(const Step& step, const Machine& machine, Strategy&& strategy, const Run& run) {
  return Simulator(step, machine, strategy, run).run();
}

Outcome lru(const Step& step, const Machine& machine, const Run& run) {
  return simulate(step, machine, PolicyStrategy(std::make_unique<LeastRecentlyUsed>(), machine), run);
}

// Long enough that the steps that count come after learning and planning.
Outcome learn(const Step& step, const Machine& machine, const Run& run) {
  constexpr std::uint32_t kSteps = 12;
  Run longer = run;
  longer.steps = std::max(run.steps, kSteps);
  return simulate(step, machine, PolicyStrategy(std::make_unique<Learning>(), machine), longer);
}

Outcome uvm(const Step& step, const Machine& machine, const Run& run) {
  Machine paged = machine;
  paged.block = 2_MiB;
  return simulate(step, paged, UvmLike(), run);
}

Outcome successor(const Step& step, const Machine& machine, const Run& run) {
  return simulate(step, machine, SuccessorTable(step), run);
}

Outcome window(const Step& step, const Machine& machine, const Run& run) {
  return simulate(step, machine, SlidingWindow(), run);
}

Outcome belady(const Step& step, const Machine& machine, const Run& run) {
  return simulate(step, machine, BeladyLazy(step), run);
}

Outcome greedy(const Step& step, const Machine& machine, const Run& run) {
  return simulate(step, machine, Greedy(step), run);
}

Outcome plan(const Step& step, const Machine& machine, const Run& run) {
  return run_plan(step, machine, make_plan(step, machine), run);
}

constexpr StrategyRow kStrategies[] = {
    {"lru", "on demand, what was used longest ago leaves", lru},
    {"learn", "learned while running, as the process does it", learn},
    {"uvm", "like managed memory: 2 MiB faults, least recently used leaves", uvm},
    {"deepum", "successor table: eight kernels ahead, least recently used leaves", successor},
    {"window", "sliding window: next rows in, what was just used leaves", window},
    {"belady", "farthest next use leaves, copied out when it must", belady},
    {"greedy", "farthest clean leaves, everything is cleaned early", greedy},
    {"plan", "learned and refined on the simulator", plan},
};

}  // namespace

std::span<const StrategyRow> strategies() { return kStrategies; }

const StrategyRow* find_strategy(std::string_view name) {
  const auto row = std::find_if(std::begin(kStrategies), std::end(kStrategies),
                                [name](const StrategyRow& r) { return name == r.name; });
  return row == std::end(kStrategies) ? nullptr : &*row;
}

}  // namespace tencache::policy
