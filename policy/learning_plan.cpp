// How the learning policy comes to a plan and follows it.
#include <cmath>

#include "policy/learning.hpp"

namespace tencache::policy {
namespace {

constexpr double kDrift = 0.1;         // of a rate or of the kernels' time: the plan is made anew
constexpr double kBlocksEarly = 8;     // what is not as it was recorded must not make a fetch late
constexpr std::uint64_t kMuchOf = 32;  // one touch in so many is known better: the same
constexpr Nanoseconds kRunAhead = 4_ms;

bool differs(double now, double then) { return std::abs(now - then) > kDrift * then; }

bool differs(const LinkRates& now, const LinkRates& then) {
  return differs(now.in_alone, then.in_alone) || differs(now.out_alone, then.out_alone) ||
         differs(now.in_duplex, then.in_duplex) || differs(now.out_duplex, then.out_duplex);
}

}  // namespace

double Learning::measured_seconds() const {
  std::uint64_t sum = 0;
  for (AccessIndex i = locked_.end - locked_.length; i < locked_.end; ++i) sum += history_[i].took;
  return static_cast<double>(sum) * 1e-9;
}

// The first plan is there soon, then it is refined; and made anew when what it was made for has changed.
bool Learning::needs_plan(const Machine& machine, Effort* effort) const {
  const bool first = plan_ == nullptr || plan_->length() != locked_.length;
  *effort = first ? Effort::kFirst : Effort::kRefined;
  if (first || plan_->effort == Effort::kFirst) return true;
  const std::uint64_t touches =
      history_.touch_head() - history_[locked_.end - locked_.length].first;  // of the step
  if ((found_out_ - planned_with_) * kMuchOf > touches) return true;
  return machine.hbm != plan_->machine.hbm || differs(machine.link, plan_->machine.link) ||
         differs(measured_seconds(), plan_->compute_seconds);
}

std::unique_ptr<Work> Learning::work(const Residency& residency) {
  if (planning_ || !cursor_.locked() || !meter_.known()) return nullptr;
  if (plan_ != nullptr && history_.head() < looked_at_plan_ + locked_.length) return nullptr;
  looked_at_plan_ = history_.head();
  Machine machine;
  machine.hbm = residency.hbm_total;
  machine.link = meter_.rates();
  machine.block = largest_;
  machine.map_per_block = meter_.remap();
  machine.run_ahead = kRunAhead;
  machine.guard_seconds = kBlocksEarly * static_cast<double>(largest_.count()) / machine.link.in_duplex;
  Effort effort{};
  if (!needs_plan(machine, &effort)) return nullptr;
  auto recorded = policy::recorded_step(
      history_, locked_, [this](const RecordedTouch& touch) { return size_of(touch); }, Touches::kWrite);
  if (!recorded) return nullptr;
  planning_ = true;
  planned_with_ = found_out_;
  return std::make_unique<PlanStep>(std::move(*recorded), machine, effort);
}

void Learning::worked(std::unique_ptr<Work> work) {
  planning_ = false;
  if (auto made = static_cast<PlanStep&>(*work).take()) adopt(std::move(made));
}

// Marks the recorded accesses that the plan speaks of; later ones learn it from those that they repeat.
void Learning::adopt(std::unique_ptr<StepPlan> plan) {
  plan_ = std::move(plan);
  looked_at_plan_ = history_.head();
  cleanings_.clear();
  on_plan_ = false;
  const AccessIndex oldest = history_.head() - std::min(history_.head(), History::kAccesses - 1);
  for (AccessIndex i = oldest; i < plan_->begin; ++i) history_.set_planned(i, 0);
  for (AccessIndex i = plan_->begin; i < history_.head(); ++i) {
    const std::uint64_t kernel = (i - plan_->begin) % plan_->length();
    const bool same = history_[i].token == plan_->tokens[kernel];
    history_.set_planned(i, same && !plan_->plan.greedy ? static_cast<std::uint32_t>(kernel + 1) : 0);
  }
}

const StepPlan* Learning::plan_at(AccessIndex access) const {
  return plan_ != nullptr && history_[access].planned != 0 ? plan_.get() : nullptr;
}

void Learning::follow_plan(AccessIndex matched, const Access& access) {
  const std::uint32_t planned = history_[matched].planned;
  for (const ExtentIndex extent : access.will_touch) cleanings_.remove(extent);
  if (planned == 0) return;
  const Position first = plan_->first[planned - 1];
  if (plan_->first[planned] - first != access.will_touch.size()) return;
  history_.set_planned(history_.head() - 1, planned);
  on_plan_ = true;
  for (std::uint32_t slot = 0; slot < access.will_touch.size(); ++slot) {
    if (plan_->plan.need[first + slot] <= 0) continue;
    cleanings_.put(access.will_touch[slot], history_.head() + plan_->plan.due[first + slot]);
  }
}

}  // namespace tencache::policy
