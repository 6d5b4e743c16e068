#include "policy/planner.hpp"

#include <algorithm>
#include <limits>
#include <span>

namespace tencache::policy {
namespace {

// The passes, later ones fetching later. Nobody knows beforehand which suits a step best: that is simulated.
struct Pass {
  double guard_seconds;
  bool eager;
  double margin = 0;
};
constexpr Pass kPasses[] = {{0.1, false}, {0.02, false}, {0.004, false},     {0.001, false},
                            {0.02, true}, {0.004, true}, {0.02, false, 0.1}, {0.004, false, 0.2}};
constexpr Pass kPassesMappingAhead[] = {{0.02, false}, {0.004, false}};
constexpr Bytes kPlanningBlock = 32_MiB;
constexpr std::uint64_t kBlocksAtLeast = 512;
constexpr double kWorseAllowed = 1.0005;  // a later pass moves fewer bytes: keep it at the same speed

// Bytes to have copied out from each use on until the tensor is next written, and by when.
void derive_cleaning(const Step& step, const StepRecord& record, Plan& plan) {
  const Position n = step.positions();
  plan.dropped = plan.need = record.dropped;
  plan.due = record.first_drop;
  for (Position i = 2 * n; i-- > 0;) {
    const Use& use = step.use(i % n);
    if (use.next == kNoPosition || use.death || step.use(use.next).writes) continue;
    plan.need[i % n] = std::max(record.dropped[i % n], plan.need[use.next]);
    if (record.dropped[i % n] > 0 || plan.need[use.next] == 0) continue;
    const KernelIndex next = step.use(use.next).kernel;
    const std::uint32_t gap = next > use.kernel ? next - use.kernel : next + step.kernels() - use.kernel;
    plan.due[i % n] = gap + plan.due[use.next];
  }
}

// The latest start of each kernel's fetches, backwards over two laps so that the step's end is no edge.
void derive_gates(const Step& step, const StepRecord& record, double rate, double guard, Plan& plan) {
  const std::uint32_t n = step.kernels();
  plan.lead.assign(n, 0);
  const auto start = [&](std::int64_t k) {
    const std::int64_t lap = k / n;
    return record.start[static_cast<std::size_t>(k % n)] + static_cast<double>(lap) * record.seconds;
  };
  double latest = std::numeric_limits<double>::infinity();
  std::int64_t running = 3 * std::int64_t{n} - 1;
  for (std::int64_t k = 3 * std::int64_t{n} - 1; k >= n; --k) {
    latest = std::min(latest, start(k));
    latest -= static_cast<double>(record.fetched_for[static_cast<std::size_t>(k % n)]) / rate;
    while (running > 0 && start(running) > latest - guard) --running;
    plan.lead[static_cast<std::size_t>(k % n)] =
        static_cast<std::uint32_t>(std::min<std::int64_t>(n, k - running));
  }
}

// Planned in coarser blocks than are moved, as long as they are small against all there is.
Machine planning_machine(const Step& step, const Machine& machine) {
  Machine coarse = machine;
  const Bytes fine(static_cast<std::uint64_t>(step.peak()) / kBlocksAtLeast);
  coarse.block = std::max(machine.block, std::min(kPlanningBlock, round_up(fine, machine.block)));
  return coarse;
}

}  // namespace

Plan derive_plan(const Step& step, const StepRecord& record, const Machine& machine, double guard_seconds) {
  Plan plan;
  derive_cleaning(step, record, plan);
  derive_gates(step, record, machine.link.in_duplex, guard_seconds, plan);
  plan.greedy = false;
  return plan;
}

Planned::Planned(const Step& step, const Plan& plan, bool writes_known)
    : Greedy(step),
      step_(step),
      plan_(plan),
      writes_known_(writes_known),
      margin_(static_cast<Position>(plan.margin * step.positions())) {}

void Planned::begin(const Memory& memory, std::int64_t block) {
  Greedy::begin(memory, block);
  cleanings_ = {};
  checks_ = {};
  completed_ = 0;
}

void Planned::completed(KernelIndex kernel) {
  for (Position position = step_.begin(kernel); position < step_.end(kernel); ++position) {
    const Use& use = step_.use(position);
    if (use.death) continue;
    if (!writes_known_ && plan_.dropped[position] > 0 && wants_print(use.tensor)) {
      checks_.push({use.tensor, position});
    }
    // Where writes are unknown every touch makes a copy under way void: it must be begun anew.
    if ((use.writes || !writes_known_) && plan_.need[position] > 0) {
      cleanings_.push({completed_ + plan_.due[position], use.tensor});
    }
  }
  ++completed_;
}

TensorIndex Planned::next_clean(const Moment& moment) {
  while (!cleanings_.empty()) {
    const TensorIndex tensor = cleanings_.top().tensor;
    const TensorState& state = (*memory_)[tensor];
    if (memory_->cleanable(tensor) && plan_.need[state.last] > state.size - state.dirty) return tensor;
    cleanings_.pop();
  }
  return plan_.eager ? Greedy::next_clean(moment) : kNoTensor;
}

TensorIndex Planned::next_check(const Moment& /*moment*/) {
  while (!checks_.empty()) {
    const Check check = checks_.front();
    checks_.pop();
    const TensorState& state = (*memory_)[check.tensor];
    if (state.last == check.last && memory_->suspect(check.tensor)) return check.tensor;
  }
  return kNoTensor;
}

std::int64_t Planned::wanted_clean(TensorIndex tensor) const {
  const TensorState& state = (*memory_)[tensor];
  return std::max(plan_.dropped[state.last], state.size - state.suspect + 1);
}

bool Planned::wants_print(TensorIndex tensor) const {
  return plan_.compares && (plan_.compared.empty() || plan_.compared[tensor] != 0);
}

bool Planned::due(KernelIndex kernel) const {
  return plan_.lead[kernel] > look_ahead_.distance(memory_->next_kernel(), kernel);
}

Outcome run_plan(const Step& step, const Machine& machine, const Plan& plan, const Run& run) {
  if (plan.greedy) {
    Greedy greedy(step);
    return Simulator(step, machine, greedy, run).run();
  }
  Planned planned(step, plan, machine.writes_known);
  return Simulator(step, machine, planned, run).run();
}

namespace {

constexpr double kWorthATry = 1.05;  // of what was found in coarser blocks: how long it takes in those moved
constexpr std::uint32_t kStepsOfTrial = 6;

// The passes of make_plan, each learning from the step that the one before simulated.
class Search {
 public:
  Search(const Step& step, const Machine& real, Effort effort)
      : step_(step),
        real_(real),
        machine_(planning_machine(step, real)),
        run_{.steps = effort == Effort::kFirst ? 2u : 3u, .record = &record_} {}

  // Where writes are unknown the pass learned from is made as if they were known: it would fingerprint
  // everything.
  void try_greedy() {
    try_plan(Plan());
    Machine known = machine_;
    known.writes_known = true;
    if (!machine_.writes_known) run_plan(step_, known, Plan(), run_);
  }
  void try_pass(const Pass& pass) {
    Plan plan = derive_plan(step_, record_, machine_, pass.guard_seconds + machine_.guard_seconds);
    plan.eager = pass.eager;
    plan.margin = pass.margin;
    try_plan(std::move(plan));
  }
  // Where the mapper is what births wait for.
  void try_mapping_ahead() {
    if (machine_.map_per_block == Nanoseconds() || best().greedy) return;
    Plan plan = best();
    plan.maps_ahead = true;
    try_plan(plan);
    for (const Pass& pass : kPassesMappingAhead) {
      plan = derive_plan(step_, record_, machine_, pass.guard_seconds + machine_.guard_seconds);
      plan.eager = pass.eager;
      plan.maps_ahead = true;
      try_plan(std::move(plan));
    }
  }
  // What was never found unchanged is copied without being compared; then all is.
  void try_comparing_less() {
    Plan plan = best();
    if (machine_.writes_known || plan.greedy) return;
    plan.compared = record_.unchanged;
    try_plan(plan);
    plan.compares = false;
    try_plan(plan);
  }
  [[nodiscard]] const Plan& best() const { return tried_[best_]; }

  // The fastest in the blocks that are moved, where those are finer.
  Plan best_on_real() {
    if (real_.block == machine_.block) return best();
    const double most = best().seconds * kWorthATry;
    std::erase_if(tried_, [most](const Plan& plan) { return !(plan.seconds <= most); });
    if (tried_.empty()) return {};
    for (Plan& plan : tried_) {
      const Outcome outcome = run_plan(step_, real_, plan, {.steps = kStepsOfTrial});
      plan.seconds = outcome.feasible ? outcome.step_seconds : std::numeric_limits<double>::infinity();
    }
    return *std::min_element(tried_.begin(), tried_.end(),
                             [](const Plan& a, const Plan& b) { return a.seconds < b.seconds; });
  }

 private:
  void try_plan(Plan plan) {
    const Outcome outcome = run_plan(step_, machine_, plan, run_);
    plan.seconds = outcome.feasible ? outcome.step_seconds : std::numeric_limits<double>::infinity();
    tried_.push_back(std::move(plan));
    if (tried_.back().seconds <= best().seconds * kWorseAllowed) best_ = tried_.size() - 1;
  }

  const Step& step_;
  const Machine real_;
  const Machine machine_;
  StepRecord record_;
  const Run run_;
  std::vector<Plan> tried_;
  std::size_t best_ = 0;
};

}  // namespace

Plan make_plan(const Step& step, const Machine& machine, Effort effort, const std::atomic<bool>* stop) {
  const bool first = effort == Effort::kFirst;
  const auto stopped = [stop] { return stop != nullptr && stop->load(std::memory_order_relaxed); };
  Search search(step, machine, effort);
  search.try_greedy();
  for (const Pass& pass : std::span(kPasses).first(first ? 1 : std::size(kPasses))) {
    if (!stopped()) search.try_pass(pass);
  }
  if (first || stopped()) return search.best();
  search.try_mapping_ahead();
  search.try_comparing_less();
  return search.best_on_real();
}

}  // namespace tencache::policy
