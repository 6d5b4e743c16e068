// Figures of the learning policy: how soon it knows a step, how soon again after something strange, whether
// it takes chance for a step, and what an access costs. Used by policy-bench. Thread rule: one caller.
#pragma once

#include <cstdint>

#include "policy/step.hpp"

namespace tencache::bench {

// Steps from the first access until the step is locked.
double lock_steps(const policy::Step& step);
// Steps until it is followed with trust again, the worst of: an evaluation of a third of a step in between,
// accesses never seen before strewn in, and every two neighbours in turned order.
double relock_steps(const policy::Step& step);
// How often `accesses` random ones, of a few kinds and extents, were taken for a step.
std::uint64_t false_locks(std::uint64_t accesses);
// Nanoseconds of one access in a known step.
double observe_nanoseconds(const policy::Step& step);

}  // namespace tencache::bench
