// policy-bench: how close the plan comes to the bound, as JSON: figure's name -> {"value", "unit", "aim"}.
// usage: policy-bench [--json FILE] [--traces DIR] [--solver COMMAND] [--only PREFIX]... [--step NAME]
// [--cells]
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "policy/planner.hpp"
#include "policy/strategies.hpp"
#include "tools/policy_bench/cells.hpp"
#include "tools/policy_bench/learning_figures.hpp"
#include "tools/policy_bench/price_solver.hpp"
#include "tools/policy_bench/random_steps.hpp"

namespace tencache::bench {
namespace {

struct Arguments {
  std::string json;
  std::string traces;
  std::vector<std::string> only;  // figures whose names begin so; all if there is none
  std::string step;               // of this name alone
  std::string solver;             // finds the bounds' prices; else they are climbed for
  bool cells = false;             // a line for every cell
};

struct Figure {
  double value;
  const char* unit;
  const char* aim;
};

class Mean {
 public:
  void add(double value) {
    logarithms_ += std::log(value);
    sum_ += value;
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
    ++count_;
  }
  [[nodiscard]] bool any() const { return count_ > 0; }
  [[nodiscard]] double geometric() const { return std::exp(logarithms_ / count_); }
  [[nodiscard]] double arithmetic() const { return sum_ / count_; }
  [[nodiscard]] double least() const { return least_; }
  [[nodiscard]] double most() const { return most_; }

 private:
  double logarithms_ = 0, sum_ = 0;
  double least_ = std::numeric_limits<double>::infinity(), most_ = 0;
  int count_ = 0;
};

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class Bench {
 public:
  explicit Bench(const Arguments& arguments) : arguments_(arguments) {
    if (!arguments.solver.empty()) search_ = PriceSolver(arguments.solver);
    if (!arguments.traces.empty()) steps_ = recorded_steps(arguments.traces);
    for (NamedStep& step : generated_steps()) steps_.push_back(std::move(step));
    if (!arguments.step.empty()) {
      std::erase_if(steps_, [&](const NamedStep& step) { return step.name != arguments.step; });
    }
  }

  void run() {
    if (wanted("policy.eta") || wanted("policy.share_of_ideal") || wanted("policy.fetch_ratio")) over_cells();
    if (wanted("policy.random") || wanted("policy.vs_lru_worst")) random_steps();
    if (wanted("policy.plan_ms") || wanted("policy.refine_ms")) plan_time();
    if (wanted("policy.noise_loss") || wanted("policy.bandwidth_loss")) disturbances();
    if (wanted("policy.lock_steps") || wanted("policy.relock_steps")) learning();
    if (wanted("policy.false_locks")) {
      figure("policy.false_locks", static_cast<double>(false_locks(kRandomAccesses)), "", "0");
    }
    if (wanted("policy.observe_ns")) {
      policy::Trace trace = long_step(10000).trace;
      figure("policy.observe_ns.creating", observe_nanoseconds(policy::Step(trace)), "ns", "");
      for (policy::TraceTensor& tensor : trace.tensors) tensor.persistent = true;
      figure("policy.observe_ns", observe_nanoseconds(policy::Step(trace)), "ns", "<= 100");
    }
  }

  [[nodiscard]] bool below_bound() const { return below_bound_; }

  [[nodiscard]] std::string json() const {
    std::string text = "{";
    for (const auto& [name, figure] : figures_) {
      text += fmt::format("{}\n  \"{}\": {{\"value\": {:.6g}, \"unit\": \"{}\", \"aim\": \"{}\"}}",
                          text.size() > 1 ? "," : "", name, figure.value, figure.unit, figure.aim);
    }
    return text + "\n}\n";
  }

  void print() const {
    for (const auto& [name, figure] : figures_) {
      fmt::print("{:<34} {:>12.6g} {:<6} aim {}\n", name, figure.value, figure.unit, figure.aim);
    }
  }

 private:
  // Whether a figure of this name, or one whose name begins so, is to be shown.
  [[nodiscard]] bool wanted(const std::string& name) const {
    return arguments_.only.empty() ||
           std::any_of(arguments_.only.begin(), arguments_.only.end(), [&](const auto& only) {
             return name.compare(0, only.size(), only) == 0 || only.compare(0, name.size(), name) == 0;
           });
  }
  void figure(const std::string& name, double value, const char* unit, const char* aim) {
    const auto begins = [&](const std::string& only) { return name.compare(0, only.size(), only) == 0; };
    const std::vector<std::string>& only = arguments_.only;
    if (only.empty() || std::any_of(only.begin(), only.end(), begins)) figures_[name] = {value, unit, aim};
  }

  // A run faster than any can be: the bound or the simulator is wrong.
  double eta(const policy::Bound& bound, const policy::Outcome& outcome, const std::string& what) {
    const double eta = outcome.feasible ? bound.seconds / outcome.step_seconds : 0.0;
    if (eta > 1 + 1e-9) {
      below_bound_ = true;
      fmt::print(stderr, "policy-bench: {} is faster than its bound: {}\n", what, eta);
    }
    return eta;
  }

  policy::Outcome plan(const policy::Step& step, const policy::Machine& machine) const {
    return policy::run_plan(step, machine, policy::make_plan(step, machine), {.steps = kSteadySteps});
  }

  // Looked for longer where the quick one leaves more open than the aim.
  policy::Bound bound_of(const policy::Step& step, const policy::Machine& machine, double achieved) const {
    const policy::Bound quick = policy::lower_bound(step, machine, achieved, search_);
    if (!search_ || quick.seconds > achieved * kLeastEta) return quick;
    const policy::Bound fine = policy::lower_bound(step, machine, achieved, search_, policy::kManySlots);
    return fine.seconds > quick.seconds ? fine : quick;
  }

  void over_cells() {
    for (const Cell& cell : cells(steps_)) {
      const policy::Step& step = *cell.step->step;
      const policy::Outcome zero = plan(step, with_costs(cell.machine, Costs::kZero));
      const policy::Outcome full = plan(step, with_costs(cell.machine, Costs::kFull));
      const policy::Bound bound = bound_of(step, cell.machine, zero.step_seconds);
      const std::string name = fmt::format("{} {} {:.2f}", cell.step->name, cell.link, cell.share_of_peak);
      const double eta_zero = eta(bound, zero, name);
      const double eta_full = eta(bound, full, name);
      zero_.add(eta_zero);
      full_.add(eta_full);
      if (bound.seconds > 1.01 * bound.ideal) stalled_.add(eta_full);
      const bool half = cell.share_of_peak > 0.39 && cell.share_of_peak < 0.56;
      if (half && bound.seconds <= 1.01 * bound.ideal) share_.add(bound.ideal / full.step_seconds);
      const double ratio = bound.minimum_bytes > 0 ? full.bytes_in / bound.minimum_bytes : 1;
      if (bound.minimum_bytes > 0) fetched_.add(ratio);
      if (bound.minimum_bytes > 0) fetched_zero_.add(zero.bytes_in / bound.minimum_bytes);
      if (cell.step->recorded && cell.machine.hbm == 40_GiB && cell.link == "gen4") {
        figure("policy.eta." + cell.step->name, eta_zero, "", ">= 0.999");
      }
      if (arguments_.cells) {
        fmt::print("{:<34} bound/ideal {:.4f} zero {:.4f} full {:.4f} fetched {:.3f}\n", name,
                   bound.seconds / bound.ideal, eta_zero, eta_full, ratio);
        std::fflush(stdout);
      }
    }
    if (!zero_.any()) return;
    figure("policy.eta.zero.geomean", zero_.geometric(), "", ">= 0.999");
    figure("policy.eta.zero.min", zero_.least(), "", ">= 0.995");
    figure("policy.eta.geomean", full_.geometric(), "", ">= 0.985");
    figure("policy.eta.min", full_.least(), "", ">= 0.95");
    if (stalled_.any()) figure("policy.eta.stall.geomean", stalled_.geometric(), "", ">= 0.985");
    if (stalled_.any()) figure("policy.eta.stall.min", stalled_.least(), "", ">= 0.95");
    if (share_.any()) figure("policy.share_of_ideal", share_.arithmetic(), "", ">= 0.97");
    figure("policy.fetch_ratio", fetched_.geometric(), "", "<= 1.05");
    figure("policy.fetch_ratio.zero", fetched_zero_.geometric(), "", "<= 1.05");
  }

  // The learning policy where nothing repeats, in a single step, and where a step does.
  static void learned_against_lru(const policy::Step& step, const policy::Machine& machine, Mean& ratios) {
    for (const std::uint32_t steps : {1u, 4u}) {
      const policy::Run run{.steps = steps};
      const policy::Outcome learned = policy::find_strategy("learn")->run(step, machine, run);
      const policy::Outcome lru = policy::find_strategy("lru")->run(step, machine, run);
      if (learned.feasible && lru.feasible) ratios.add(learned.step_seconds / lru.step_seconds);
    }
  }

  void random_steps() {
    Mean etas, ratios;
    for (std::uint64_t seed = 1; seed <= kRandomSteps; ++seed) {
      const RandomCell cell = random_cell(seed);
      const policy::Step step(cell.trace);
      const policy::Outcome ours = plan(step, cell.machine);
      if (!ours.feasible) continue;
      const policy::Bound bound = policy::lower_bound(step, cell.machine, ours.step_seconds, search_);
      etas.add(eta(bound, ours, fmt::format("random {}", seed)));
      const policy::Outcome lru = policy::find_strategy("lru")->run(step, cell.machine, {});
      if (lru.feasible) ratios.add(ours.step_seconds / lru.step_seconds);
      learned_against_lru(step, cell.machine, ratios);
    }
    figure("policy.random.geomean", etas.geometric(), "", ">= 0.985");
    figure("policy.vs_lru_worst", ratios.most(), "", "<= 1.02");
  }

  void learning() {
    Mean lock, relock;
    for (const NamedStep& named : steps_) {
      lock.add(lock_steps(*named.step));
      relock.add(relock_steps(*named.step));
      if (arguments_.cells) {
        fmt::print("{:<34} lock {:.3f} relock {:.3f}\n", named.name, lock_steps(*named.step),
                   relock_steps(*named.step));
      }
    }
    figure("policy.lock_steps", lock.most(), "steps", "<= 2.05");
    figure("policy.relock_steps", relock.most(), "steps", "<= 1");
  }

  // Three sizes of the same shape: the second is the one that the aim speaks of.
  void plan_time() {
    for (const std::uint32_t accesses : {1000u, 10000u, 100000u}) {
      const RandomCell shape = long_step(accesses);
      const policy::Step step(shape.trace);
      const std::string size = accesses == 10000 ? "" : fmt::format(".{}", accesses);
      const auto median = [&](policy::Effort effort) {
        std::vector<double> times;
        for (int i = 0; i < 5; ++i) {
          times.push_back(1e3 * seconds_of([&] { policy::make_plan(step, shape.machine, effort); }));
        }
        std::nth_element(times.begin(), times.begin() + 2, times.end());
        return times[2];
      };
      figure("policy.plan_ms" + size, median(policy::Effort::kFirst), "ms", size.empty() ? "<= 20" : "");
      figure("policy.refine_ms" + size, median(policy::Effort::kRefined), "ms", "");
    }
  }

  // What is lost against a plan that knew, over the cells with stall.
  void disturbances() {
    Mean noise, bandwidth;
    for (const Cell& cell : cells(steps_)) {
      const policy::Step& step = *cell.step->step;
      const policy::Machine machine = with_costs(cell.machine, Costs::kFull);
      const policy::Plan learned = policy::make_plan(step, machine);
      policy::Run noisy{.steps = 6};
      const double calm = policy::run_plan(step, machine, learned, noisy).step_seconds;
      noisy.noise = 0.25;
      noise.add(calm / policy::run_plan(step, machine, learned, noisy).step_seconds);
      policy::Machine slower = machine;
      for (double* rate :
           {&slower.link.in_alone, &slower.link.out_alone, &slower.link.in_duplex, &slower.link.out_duplex}) {
        *rate *= 0.7;
      }
      // One step under the old plan, from which the rates are measured; then the plan is made anew.
      policy::Machine measured = slower;
      measured.link = policy::run_plan(step, slower, learned, {.steps = 1}).measured_link;
      const policy::Plan known = policy::make_plan(step, slower);
      const policy::Plan again = policy::make_plan(step, measured);
      bandwidth.add(policy::run_plan(step, slower, known, {}).step_seconds /
                    policy::run_plan(step, slower, again, {}).step_seconds);
    }
    figure("policy.noise_loss", 1 - noise.geometric(), "", "<= 0.005");
    figure("policy.bandwidth_loss", 1 - bandwidth.geometric(), "", "<= 0.005");
  }

  static constexpr double kLeastEta = 0.995;
  static constexpr std::uint32_t kSteadySteps = 16;  // some cells take half of them to settle
  static constexpr std::uint64_t kRandomSteps = 400;
  static constexpr std::uint64_t kRandomAccesses = 100'000'000;
  Arguments arguments_;
  policy::PriceSearch search_;
  std::vector<NamedStep> steps_;
  std::map<std::string, Figure> figures_;
  Mean zero_, full_, stalled_, share_, fetched_, fetched_zero_;
  bool below_bound_ = false;
};

bool read(int count, char** words, Arguments& arguments) {
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const bool has_value = i + 1 < count;
    if (word == "--cells") {
      arguments.cells = true;
    } else if (has_value && word == "--json") {
      arguments.json = words[++i];
    } else if (has_value && word == "--traces") {
      arguments.traces = words[++i];
    } else if (has_value && word == "--only") {
      arguments.only.emplace_back(words[++i]);
    } else if (has_value && word == "--step") {
      arguments.step = words[++i];
    } else if (has_value && word == "--solver") {
      arguments.solver = words[++i];
    } else {
      return false;
    }
  }
  return true;
}

int run(int count, char** words) {
  Arguments arguments;
  if (!read(count, words, arguments)) {
    fmt::print(stderr,
               "usage: policy-bench [--json FILE] [--traces DIR] [--solver COMMAND] [--only PREFIX]... "
               "[--step NAME] [--cells]\n");
    return 2;
  }
  Bench bench(arguments);
  bench.run();
  bench.print();
  if (!arguments.json.empty()) {
    std::FILE* file = std::fopen(arguments.json.c_str(), "w");
    if (file == nullptr) {
      fmt::print(stderr, "policy-bench: cannot write {}\n", arguments.json);
      return 1;
    }
    fmt::print(file, "{}", bench.json());
    std::fclose(file);
  }
  return bench.below_bound() ? 1 : 0;
}

}  // namespace
}  // namespace tencache::bench

int main(int count, char** words) { return tencache::bench::run(count, words); }
