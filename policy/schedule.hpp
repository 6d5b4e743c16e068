// The text form of a simulated step, for whoever wants to check it; docs/formats.md describes it. Called by
// the tools. Thread rule: pure. Failure rule: none.
#pragma once

#include <string>

#include "policy/simulator.hpp"

namespace tencache::policy {

std::string format_schedule(const Schedule& schedule);

}  // namespace tencache::policy
