// All strategies by name, for the simulator's command and the bench. Thread rule: pure. Failure rule: null
// for a name that is not in the table.
#pragma once

#include <span>
#include <string_view>

#include "policy/simulator.hpp"

namespace tencache::policy {

struct StrategyRow {
  const char* name;
  const char* help;
  Outcome (*run)(const Step& step, const Machine& machine, const Run& run);
};

[[nodiscard]] std::span<const StrategyRow> strategies();
[[nodiscard]] const StrategyRow* find_strategy(std::string_view name);

}  // namespace tencache::policy
