// Writes the step that a program repeats to the file that TENCACHE_TRACE names. Called by the runtime at
// exit. Thread rule: one caller, when nothing is moved any more. Failure rule: says in one line why there is
// no file.
#pragma once

#include <optional>

#include "policy/trace.hpp"
#include "src/base/value_text.hpp"

namespace tencache::runtime {

void write_trace(const std::optional<policy::Trace>& step, const PathText& path);

}  // namespace tencache::runtime
