// The engine's decisions: what the access that waits first still needs, and what has to go for it.
#include <algorithm>

#include "src/base/log.hpp"
#include "vmm/engine.hpp"

namespace tencache::vmm {

bool Engine::serve() {
  Lock lock(state_.mutex);
  ++turn_;
  if (state_.lower_hbm_budget_to.count() > 0) {
    const Bytes budget = state_.lower_hbm_budget_to;
    state_.lower_hbm_budget_to = Bytes();
    room_before_ = Bytes();
    lock.unlock();
    hbm_.set_budget(budget);
    lock.lock();
  }
  bool progress = release_given_up();
  if (!state_.waiting.empty()) {
    open_window(*state_.waiting.front());
    progress |= serve_access(lock, *state_.waiting.front());
  }
  progress |= open_way_out(lock);
  progress |= serve_window(lock);
  const Bytes over = hbm_.in_use() > hbm_.budget() ? hbm_.in_use() - hbm_.budget() : Bytes();
  if (over.count() > 0) progress |= make_room(lock, over);
  const bool something_is_out = plenty_since_ == Nanoseconds();
  if (state_.short_of_memory && something_is_out) progress |= make_room(lock, state_.spare());
  progress |= move_ahead(lock);
  progress |= give_back_idle(lock);
  return progress;
}

bool Engine::serve_access(Lock& lock, InFlight& access) {
  want(access);
  if ((!access.has_way_out || access.splittable) && bytes_wanted(access) > hbm_.budget()) {
    access.refusal = Status(StatusCode::kOutOfMemory, "one access alone needs more than HBM holds");
    return true;
  }
  bool progress = back_may_touch(lock, access);
  progress |= start_missing(lock, access);
  const Bytes missing = bytes_missing(access);
  if (missing.count() > 0) progress |= make_room(lock, missing + state_.spare());
  judge_blocked(access);
  return progress;
}

// A quiescent window (DESIGN 6.6): who stands first waits for others' work, whoever came since stands behind
// it, and now nothing is enqueued any more. Until it is let in nobody else is, or its moves would be void.
void Engine::open_window(InFlight& first) {
  if (state_.window_of != nullptr || first.blocked_since == Nanoseconds() || !state_.quiescent()) return;
  state_.window_of = &first;
  count(state_.statistics.quiescent_windows);
}

// All that waits is brought in in the same window, as far as it fits.
bool Engine::serve_window(Lock& lock) {
  if (state_.window_of == nullptr) return false;
  bool progress = false;
  const std::vector<InFlight*> waiting(state_.waiting.begin(), state_.waiting.end());
  for (InFlight* access : waiting) {
    if (access == state_.window_of || !is_waiting(access)) continue;
    want(*access);
    progress |= start_missing(lock, *access);
    if (!is_waiting(access)) continue;
    const Bytes missing = bytes_missing(*access);
    if (missing.count() > 0) progress |= make_room(lock, missing + state_.spare());
  }
  return progress;
}

// The lock was left since: it may have gone.
bool Engine::is_waiting(const InFlight* access) const {
  return std::find(state_.waiting.begin(), state_.waiting.end(), access) != state_.waiting.end();
}

// Who has waited for others' work as long as the way out allows gets what it lacks on the host.
bool Engine::open_way_out(Lock& lock) {
  if (state_.settings.detached || state_.waiting.empty()) return false;
  const Nanoseconds blocked = state_.waiting.front()->blocked_since;
  if (!state_.way_out_is_due(blocked)) return false;
  std::vector<ExtentIndex> absent;
  for (InFlight* access : state_.waiting) {
    if (!access->has_way_out) continue;
    access->blocked_since = blocked;
    for (const ExtentIndex index : access->may_touch) {
      if (state_.extents[index].state == ExtentState::kAbsent) absent.push_back(index);
    }
  }
  bool started = false;
  for (const ExtentIndex index : absent) {
    if (state_.extents[index].state == ExtentState::kAbsent) started |= start_back(lock, index, true);
  }
  return started;
}

// What the access needs is nobody's victim in this turn.
void Engine::want(InFlight& access) {
  for (const ExtentIndex index : access.will_touch) state_.extents[index].wanted = turn_;
}

Bytes Engine::bytes_wanted(const InFlight& access) const {
  Bytes sum;
  for (const ExtentIndex index : access.will_touch) sum += state_.extents[index].size;
  return sum;
}

// Without a block in HBM, and none on its way.
Bytes Engine::bytes_missing(const InFlight& access) const {
  Bytes sum;
  for (const ExtentIndex index : access.will_touch) {
    const Extent& extent = state_.extents[index];
    if (extent.hbm == nullptr) sum += extent.size;
  }
  return sum;
}

bool Engine::start_missing(Lock& lock, InFlight& access) {
  bool started = false;
  const std::vector<ExtentIndex> wanted = access.will_touch;
  for (const ExtentIndex index : wanted) {
    const ExtentState state = state_.extents[index].state;
    if (state == ExtentState::kAbsent) started |= start_back(lock, index, false);
    if (state == ExtentState::kOut) started |= start_in(lock, index);
  }
  return started;
}

bool Engine::start_in(Lock& lock, ExtentIndex index) {
  Extent& extent = state_.extents[index];
  if (extent.move_in_flight || hbm_.available() < extent.size) return false;
  if (extent.mapped && !state_.idle(state_.groups[extent.group])) return false;
  lock.unlock();
  Block* block = hbm_.take(extent.size);
  lock.lock();
  if (block == nullptr) return false;
  if (extent.state != ExtentState::kOut || extent.hbm != nullptr ||
      (extent.mapped && !state_.idle(state_.groups[extent.group]))) {
    hbm_.give_back(block);
    return false;
  }
  extent.hbm = block;
  state_.apply(extent, ExtentEvent::kStartIn);
  const std::uint64_t id = begin_move(extent);
  const Block host = *extent.host;
  lock.unlock();
  const Result<CUevent> event = copier_.copy_in(host, *block);
  lock.lock();
  enqueue({index, id, MoveKind::kIn}, event);
  return true;
}

bool Engine::start_back(Lock& lock, ExtentIndex index, bool on_host) {
  Extent& extent = state_.extents[index];
  if (extent.move_in_flight) return false;
  Block* block = nullptr;
  if (on_host) {
    block = take_host(lock, extent.size);
  } else {
    lock.unlock();
    block = hbm_.take(extent.size);
    lock.lock();
  }
  if (block == nullptr) return false;
  (on_host ? extent.host : extent.hbm) = block;
  state_.apply(extent, ExtentEvent::kBack);
  const std::uint64_t id = begin_move(extent);
  count(state_.statistics.zero_filled, extent.size);
  lock.unlock();
  const Result<CUevent> event = copier_.zero(*block);
  lock.lock();
  enqueue({index, id, on_host ? MoveKind::kBackHost : MoveKind::kBackHbm}, event);
  return true;
}

std::uint64_t Engine::begin_move(Extent& extent) {
  extent.move = ++last_move_;
  extent.move_in_flight = true;
  return extent.move;
}

// A touch may have made the move void before its copy was even enqueued; it still has to be retired.
void Engine::enqueue(Move move, const Result<CUevent>& event) {
  if (event.ok()) {
    move.event = *event;
    move.started = state_.clock.now();
    move.beside = other_way_is_busy(move.kind);
    moves_.push_back(move);
  } else {
    note(static_cast<CUresult>(event.status().driver_code()));
    retire(move, false);
  }
}

// Mapped mode: what an access may touch, though it is not expected to, has to be mapped somewhere.
bool Engine::back_may_touch(Lock& lock, InFlight& access) {
  if (state_.settings.detached) return false;
  bool started = false;
  const std::vector<ExtentIndex> touched = access.may_touch;
  for (const ExtentIndex index : touched) {
    const Extent& extent = state_.extents[index];
    if (extent.state == ExtentState::kAbsent && extent.wanted != turn_)
      started |= start_back(lock, index, true);
  }
  return started;
}

// ---- room

Bytes Engine::leaving() const {
  Bytes sum;
  for (const Move& move : moves_) {
    const Extent& extent = state_.extents[move.extent];
    if (move.kind == MoveKind::kOut && extent.move == move.id) sum += extent.size;
    if (move.kind == MoveKind::kIn && extent.move != move.id)
      sum += extent.size;  // void: its block comes back
  }
  for (const Change& change : changes_) {
    const Extent& extent = state_.extents[change.extent];
    const bool gives = extent.state == ExtentState::kChangingOut || extent.state == ExtentState::kReleasing;
    if (gives && extent.hbm != nullptr) sum += extent.size;
  }
  return sum;
}

// Starts putting out as much as `wanted` needs beyond what is free or leaving already.
bool Engine::make_room(Lock& lock, Bytes wanted) {
  bool progress = false;
  if (hbm_.available() + leaving() >= wanted || !begin_shortage()) return false;
  while (hbm_.available() + leaving() < wanted) {
    if (release_freed_group()) {
      progress = true;
      continue;
    }
    const std::optional<ExtentIndex> victim = choose_victim();
    if (!victim) break;
    if (!put_out(lock, *victim)) break;
    progress = true;
  }
  return progress;
}

bool Engine::release_freed_group() {
  for (const GroupIndex index : heap_.freed_groups()) {
    Group& group = state_.groups[index];
    if (!state_.idle(group)) continue;
    bool released = false;
    for (const ExtentIndex extent : group.extents) released |= release(extent);
    if (released) return true;
  }
  return false;
}

// What a free gave up for good: moves are cancelled, then the mapping goes.
bool Engine::release_given_up() {
  bool progress = false;
  std::erase_if(state_.given_up, [this, &progress](GroupIndex index) {
    Group& group = state_.groups[index];
    if (!group.freed) return true;
    if (!state_.idle(group)) return false;
    bool left = false;
    for (const ExtentIndex extent : group.extents) {
      progress |= give_up(extent);
      left |= state_.extents[extent].state != ExtentState::kAbsent;
    }
    return !left;
  });
  return progress;
}

bool Engine::give_up(ExtentIndex index) {
  Extent& extent = state_.extents[index];
  if (extent.state == ExtentState::kLeaving || extent.state == ExtentState::kArriving) {
    state_.apply(extent, ExtentEvent::kTouch);
    extent.move = 0;
  }
  return release(index);
}

// Freed bytes are given up, never written out.
bool Engine::release(ExtentIndex index) {
  Extent& extent = state_.extents[index];
  if (extent.move_in_flight || extent.wanted == turn_) return false;
  if (extent.state != ExtentState::kResident && extent.state != ExtentState::kOut) return false;
  state_.apply(extent, ExtentEvent::kRelease);
  plan_change(index, nullptr);
  return true;
}

bool Engine::qualifies(const Extent& extent) const {
  if (extent.state != ExtentState::kResident || extent.move_in_flight || extent.wanted == turn_) return false;
  Group& group = state_.groups[extent.group];
  return !group.frozen && !group.freed && !group.suspect && state_.idle(group);
}

ExtentView Engine::view_of(ExtentIndex index) const {
  ExtentView view;
  if (index >= state_.extents.size()) return view;
  const Extent& extent = state_.extents[index];
  view.exists = extent.group != kNoGroup;
  if (!view.exists) return view;
  view.size = extent.size;
  view.home = extent.hbm != nullptr ? Home::kHbm : extent.host != nullptr ? Home::kHost : Home::kNone;
  view.clean = extent.host_current;
  view.moving = extent.move_in_flight || changing(extent.state);
  view.held = !qualifies(extent);
  return view;
}

MemoryView Engine::view() {
  const auto ask = [](const void* engine, ExtentIndex extent) {
    return static_cast<const Engine*>(engine)->view_of(extent);
  };
  return {
      {this, ask}, free_for_advisor(), hbm_.budget() - state_.spare(), host_.available(), state_.clock.now()};
}

std::optional<ExtentIndex> Engine::choose_victim() {
  const std::optional<ExtentIndex> victim = state_.advisor.victim(view());
  if (victim && *victim < state_.extents.size() && qualifies(state_.extents[*victim])) return victim;
  return std::nullopt;
}

bool Engine::put_out(Lock& lock, ExtentIndex index) {
  Extent& extent = state_.extents[index];
  plenty_since_ = Nanoseconds();
  if (extent.host_current) {
    state_.apply(extent, ExtentEvent::kDropClean);
    count(state_.statistics.clean_drops);
    count(state_.statistics.dropped_clean, extent.size);
    plan_change(index, host_mapping(extent));
    return true;
  }
  if (worth_comparing(extent)) return start_compare(lock, index, MoveKind::kOut);
  return start_out(lock, index, MoveKind::kOut);
}

// Copies out, behind its last use; `kClean`: it stays.
bool Engine::start_out(Lock& lock, ExtentIndex index, MoveKind kind) {
  Extent& extent = state_.extents[index];
  if (extent.host == nullptr) {
    Block* block = take_host(lock, extent.size);
    if (block == nullptr) return false;
    extent.host = block;
    if (!qualifies(extent)) return true;  // touched meanwhile: another victim is asked for
  }
  state_.apply(extent, ExtentEvent::kStartOut);
  extent.host_printed = false;
  const std::uint64_t id = begin_move(extent);
  const Block hbm = *extent.hbm;
  const Block host = *extent.host;
  Fingerprints* const prints = worth_printing(extent) ? &*prints_ : nullptr;
  lock.unlock();
  Move move{index, id, kind};
  const Result<CUevent> event = copier_.copy_out(hbm, host, prints, &move.print);
  lock.lock();
  enqueue(move, event);
  return true;
}

Block* Engine::take_host(Lock& lock, Bytes size) {
  while (host_.available() < size && strip_host_copy(size)) {
  }
  lock.unlock();
  Block* block = host_.take(size);
  lock.lock();
  if (block == nullptr) release_freed_group();  // its blocks are there in the next turn
  return block;
}

// A second copy on the host is a convenience; its block is needed.
bool Engine::strip_host_copy(Bytes size) {
  Extent* found = nullptr;
  for (Extent& extent : state_.extents) {
    const bool second =
        extent.hbm != nullptr && extent.host != nullptr && extent.state == ExtentState::kResident;
    if (!second || extent.move_in_flight) continue;
    if (found == nullptr || extent.size == size || !extent.host_current) found = &extent;
    if (extent.size == size && !extent.host_current) break;
  }
  if (found == nullptr) return false;
  host_.give_back(found->host);
  found->host = nullptr;
  found->host_current = found->host_printed = false;
  return true;
}

// Room depends on work of the GPU when nothing of ours is under way that will make it.
void Engine::judge_blocked(InFlight& access) {
  const bool ours = !moves_.empty() || !changes_.empty() || !in_census_.empty();
  if (ours) {
    access.blocked_since = Nanoseconds();
    return;
  }
  if (access.blocked_since == Nanoseconds()) access.blocked_since = state_.clock.now();
}

}  // namespace tencache::vmm
