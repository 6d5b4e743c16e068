// The last period of a recorded past as a trace, so that it can be planned and written to a file. Each extent
// touched is a tensor, each access a kernel. Called by the learning policy. Thread rule: one caller at a
// time; the answer is a copy. Failure rule: what has not been recorded as a whole gives nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "policy/history.hpp"
#include "policy/trace.hpp"

namespace tencache::policy {

// Whether a touch of which it is not known is taken to write: a plan has to expect it, a bound must not.
enum class Touches : std::uint8_t { kWrite, kRead };

struct RecordedStep {
  Trace trace;
  AccessIndex begin = 0;              // the recorded access that is kernel 0
  TouchIndex first = 0;               // its first touch: use i of the step is touch first + i
  std::vector<std::uint64_t> tokens;  // per kernel
};

using SizeOf = std::function<Bytes(const RecordedTouch&)>;  // 0: not known

struct Period {
  AccessIndex end = 0;  // one behind the last access
  std::uint64_t length = 0;
};

// Of the accesses of the last two periods up to the end, that period which begins where the least is alive.
std::optional<RecordedStep> recorded_step(const History& history, const Period& period, const SizeOf& size_of,
                                          Touches touches);

}  // namespace tencache::policy
