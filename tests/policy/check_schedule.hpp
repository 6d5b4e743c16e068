// Replays a schedule's text against its trace and says what is wrong with it. Shares nothing with the planner
// and the simulator but the parsed trace. Used by the tests. Failure rule: the answer is empty when all
// holds.
#pragma once

#include <string>
#include <string_view>

#include "policy/trace.hpp"

namespace tencache::tests {

struct CheckedMachine {
  std::int64_t hbm;
  double rate_in;  // the most the link does in one direction
  double rate_out;
};

std::string check_schedule(const policy::Trace& trace, std::string_view schedule,
                           const CheckedMachine& machine);

}  // namespace tencache::tests
