// The policies by name, for TENCACHE_POLICY, the simulator and the help. Called by the runtime and the tools.
// Thread rule: constant. Failure rule: null for a name that is not in the table.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "policy/policy.hpp"

namespace tencache::policy {

struct PolicyRow {
  const char* name;
  const char* help;
  std::unique_ptr<Policy> (*make)();
};

[[nodiscard]] std::span<const PolicyRow> policies();
[[nodiscard]] const PolicyRow* find_policy(std::string_view name);

}  // namespace tencache::policy
