// What the engine moves ahead of its need, as the advisor says, while memory is short and a link is free.
#include <algorithm>

#include "vmm/engine.hpp"

namespace tencache::vmm {

namespace {
constexpr std::ptrdiff_t kFetchesAhead = 2;  // one that is copied, one behind it: the link never waits for us
constexpr std::ptrdiff_t kCleansAhead = 2;
}  // namespace

// Who waits comes first: nothing is fetched beside it, but behind what it waits for, so that the link goes
// on.
bool Engine::move_ahead(Lock& lock) {
  if (!state_.short_of_memory || state_.passive) return false;
  let_advisor_work();
  const std::ptrdiff_t incoming = moves_under_way(MoveKind::kIn);
  const std::ptrdiff_t outgoing = moves_under_way(MoveKind::kOut) + moves_under_way(MoveKind::kClean);
  const bool may_fetch = nobody_lacks_room() && incoming < kFetchesAhead;
  const bool may_clean = outgoing < kCleansAhead;
  if (!may_fetch && !may_clean) return false;
  bool progress = may_fetch && fetch_ahead(lock);
  progress |= may_clean && clean_ahead(lock);
  return progress;
}

void Engine::let_advisor_work() {
  if (background_.busy()) {
    if (auto done = background_.take_done()) state_.advisor.worked(std::move(done));
  } else if (auto work = state_.advisor.work(view())) {
    background_.start(std::move(work));
  }
}

bool Engine::nobody_lacks_room() const {
  if (state_.waiting.empty()) return true;
  const InFlight& first = *state_.waiting.front();
  return first.blocked_since == Nanoseconds() && state_.window_of == nullptr &&
         bytes_missing(first) == Bytes();
}

std::ptrdiff_t Engine::moves_under_way(MoveKind kind) const {
  return std::count_if(moves_.begin(), moves_.end(), [kind](const Move& move) { return move.kind == kind; });
}

// The room kept free is not the advisor's to give away: what it fetches displaces what it names, and uses the
// free room meanwhile.
bool Engine::fetch_ahead(Lock& lock) {
  const std::optional<ExtentIndex> next = state_.advisor.next_fetch(view());
  if (!next || *next >= state_.extents.size()) return false;
  const Extent& extent = state_.extents[*next];
  if (extent.group == kNoGroup || extent.state != ExtentState::kOut || extent.move_in_flight) return false;
  if (extent.mapped && !state_.idle(state_.groups[extent.group])) return false;
  bool progress = false;
  if (hbm_.available() + leaving() < extent.size + state_.spare()) {
    if (release_freed_group()) return true;
    const std::optional<ExtentIndex> victim = choose_victim();
    if (!victim) return false;
    progress = put_out(lock, *victim);
  }
  return start_in(lock, *next) || progress;
}

// What the program has freed is given up for it first.
Bytes Engine::free_for_advisor() {
  const Bytes available = hbm_.available() + leaving() + freed_in_hbm();
  return available > state_.spare() ? available - state_.spare() : Bytes();
}

Bytes Engine::freed_in_hbm() {
  Bytes sum;
  for (const GroupIndex index : heap_.freed_groups()) {
    Group& group = state_.groups[index];
    if (!state_.idle(group)) continue;
    for (const ExtentIndex i : group.extents) {
      const Extent& extent = state_.extents[i];
      if (extent.state == ExtentState::kResident && !extent.move_in_flight) sum += extent.size;
    }
  }
  return sum;
}

bool Engine::clean_ahead(Lock& lock) {
  const std::optional<ExtentIndex> next = state_.advisor.next_clean(view());
  if (!next || *next >= state_.extents.size()) return false;
  Extent& extent = state_.extents[*next];
  if (extent.host_current || !qualifies(extent)) return false;
  if (worth_comparing(extent)) return start_compare(lock, *next, MoveKind::kClean);
  if (extent.host == nullptr && host_.available() < extent.size) return false;
  return start_out(lock, *next, MoveKind::kClean);
}

}  // namespace tencache::vmm
