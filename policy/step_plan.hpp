// A plan for a step that a program repeats, as a table by access and touch, and the work of making it. Made
// by the learning policy from what it has recorded, run by whoever runs policies' work, followed by the
// learning policy. Thread rule: the work sees nothing but its own copy; the table is plain data. Failure
// rule: where nothing beats the greedy rules, or the work was stopped, the table says so.
#pragma once

#include <memory>
#include <vector>

#include "policy/planner.hpp"
#include "policy/policy.hpp"
#include "policy/recorded_step.hpp"

namespace tencache::policy {

struct StepPlan {
  AccessIndex begin = 0;              // the recorded access that is kernel 0
  std::vector<std::uint64_t> tokens;  // per kernel, as recorded
  std::vector<Position> first;        // per kernel, and one more: its first use
  Plan plan;
  Machine machine;             // what it was made for
  double compute_seconds = 0;  // and the kernels' times
  Effort effort = Effort::kFirst;

  [[nodiscard]] std::uint64_t length() const { return tokens.size(); }
};

class PlanStep final : public Work {
 public:
  PlanStep(RecordedStep recorded, const Machine& machine, Effort effort)
      : recorded_(std::move(recorded)), machine_(machine), effort_(effort) {}
  void run(const std::atomic<bool>& stop) override;
  // Null where it was stopped.
  [[nodiscard]] std::unique_ptr<StepPlan> take() { return std::move(made_); }

 private:
  RecordedStep recorded_;
  Machine machine_;
  Effort effort_;
  std::unique_ptr<StepPlan> made_;
};

}  // namespace tencache::policy
