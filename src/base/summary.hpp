// The summary at exit: at most 12 lines that say whether the program fitted, what was moved, what it cost and
// what to try next. Called by the runtime once, before it goes passive, and by tests. Thread rule: one
// caller. Failure rule: a file that cannot be opened is said in one line and the summary goes to standard
// error.
#pragma once

#include "src/base/statistics.hpp"
#include "src/base/value_text.hpp"

namespace tencache {

struct SummaryFacts {
  Bytes hbm_limit;   // what the program's allocations may occupy
  Bytes hbm_device;  // what the device has
  Bytes host_limit;
  Nanoseconds elapsed;  // since the first cuInit
};

void print_summary(const Statistics& statistics, const SummaryFacts& facts, TextWriter& out);
// The same to where the user wants it; nothing when the target is none.
void write_summary(const Statistics& statistics, const SummaryFacts& facts, const ReportTarget& target);

}  // namespace tencache
