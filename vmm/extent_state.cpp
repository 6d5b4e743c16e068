#include "vmm/extent_state.hpp"

#include <cstdio>
#include <cstdlib>

namespace tencache::vmm {

const char* name(ExtentState state) {
  static constexpr std::array kNames{"absent", "backing",  "resident",    "leaving",  "changing-out",
                                     "out",    "arriving", "changing-in", "releasing"};
  return kNames[static_cast<std::size_t>(state)];
}

const char* name(ExtentEvent event) {
  static constexpr std::array kNames{"back",      "backed-hbm", "backed-host", "start-out",   "touch",
                                     "cleaned",   "copied-out", "drop-clean",  "changed-out", "start-in",
                                     "copied-in", "changed-in", "release",     "released",    "fail"};
  return kNames[static_cast<std::size_t>(event)];
}

ExtentState advance(ExtentState from, ExtentEvent event) {
  const std::optional<ExtentState> to = next_state(from, event);
  if (to) return *to;
  std::fprintf(stderr,
               "tencache: internal error: no transition from %s on %s; stopped before memory is damaged\n",
               name(from), name(event));
  std::abort();
}

}  // namespace tencache::vmm
