// The cells that the policy's figures are taken over: steps x HBM x links. Used by policy-bench. Thread rule:
// one thread. Failure rule: a trace that cannot be read is left out, with a line on standard error.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "policy/bound.hpp"
#include "policy/machine.hpp"
#include "policy/step.hpp"

namespace tencache::bench {

struct NamedStep {
  std::string name;
  policy::Trace trace;
  std::unique_ptr<policy::Step> step;
  bool recorded = false;
};

struct Cell {
  const NamedStep* step;
  std::string link;
  double share_of_peak;
  policy::Machine machine;  // zero costs
};

enum class Costs : std::uint8_t { kZero, kFull };

[[nodiscard]] std::vector<NamedStep> recorded_steps(const std::string& folder);
[[nodiscard]] std::vector<NamedStep> generated_steps();
// Only those where more than the HBM is needed.
[[nodiscard]] std::vector<Cell> cells(const std::vector<NamedStep>& steps);
[[nodiscard]] policy::Machine with_costs(const policy::Machine& machine, Costs costs);
[[nodiscard]] policy::LinkRates link_of_recorded();  // 15.754 GiB/s each way

}  // namespace tencache::bench
