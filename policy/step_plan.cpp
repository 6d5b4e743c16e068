#include "policy/step_plan.hpp"

namespace tencache::policy {

void PlanStep::run(const std::atomic<bool>& stop) {
  const Step step(recorded_.trace);
  auto made = std::make_unique<StepPlan>();
  made->plan = make_plan(step, machine_, effort_, &stop);
  if (stop.load(std::memory_order_relaxed)) return;
  made->begin = recorded_.begin;
  made->tokens = std::move(recorded_.tokens);
  for (KernelIndex kernel = 0; kernel <= step.kernels(); ++kernel) {
    made->first.push_back(kernel < step.kernels() ? step.begin(kernel) : step.positions());
  }
  made->machine = machine_;
  made->compute_seconds = step.ideal();
  made->effort = effort_;
  made_ = std::move(made);
}

}  // namespace tencache::policy
