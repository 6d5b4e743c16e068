#include "vmm/admission.hpp"

#include <algorithm>
#include <chrono>

#include "src/base/log.hpp"

namespace tencache::vmm {

namespace {

constexpr Nanoseconds kSaysWhyAfter = 10000_ms;
constexpr Nanoseconds kMarkerEvery = 20_us;
constexpr std::uint32_t kMostUnmarked = 16;
constexpr auto kLooksAgainAfter = std::chrono::milliseconds(1);

}  // namespace

Result<InFlight*> Admission::admit(const AccessAsk& ask) {
  Lock lock(state_.mutex);
  InFlight* access = take_record();
  access->asked_at = state_.clock.now();
  access->stream = state_.order.index(ask.stream, ask.thread);
  access->opaque = ask.opaque;
  access->signature = ask.signature;
  access->host_wait = ask.host_wait;
  access->enqueues = ask.enqueues;
  access->may_write_addresses = ask.may_run_from_host || ask.unseen_bytes;
  access->splittable = ask.may_use_aliases;
  const bool kernel_has = ask.may_run_from_host && state_.settings.kernels_run_from_host;
  access->has_way_out = (kernel_has || ask.may_use_aliases) && !state_.settings.detached;
  if (state_.short_of_memory && ask.may_run_from_host) hold_back(lock, access->stream);
  gather_settled(lock, ask, access);
  count_states(*access);
  if ((!usable(*access) || must_queue(*access)) && !wait_for_turn(lock, access)) {
    const Status refusal = access->refusal;
    free_records_.push_back(access);
    count(state_.statistics.refusals);
    return refusal;
  }
  let_in(ask, access);
  return access;
}

// In which states the accesses find what they may touch: what a test has covered.
void Admission::count_states(const InFlight& access) const {
  using Met = Counter Statistics::*;
  static constexpr std::array<Met, 9> kMet{
      &Statistics::met_absent,   &Statistics::met_backing,      &Statistics::met_resident,
      &Statistics::met_leaving,  &Statistics::met_changing_out, &Statistics::met_out,
      &Statistics::met_arriving, &Statistics::met_changing_in,  &Statistics::met_releasing};
  for (const ExtentIndex extent : access.may_touch) {
    count(state_.statistics.*kMet[static_cast<std::size_t>(state_.extents[extent].state)]);
  }
}

InFlight* Admission::take_record() {
  if (free_records_.empty()) {
    state_.records.push_back(std::make_unique<InFlight>());
    free_records_.push_back(state_.records.back().get());
  }
  InFlight* access = free_records_.back();
  free_records_.pop_back();
  access->refusal = Status();
  access->runs_partly_from_host = false;
  access->blocked_since = Nanoseconds();
  return access;
}

// ---- may-touch and will-touch

// May-touch is known only when nothing it depends on waits for a census. A kernel that waits too long for a
// census to begin may touch all, and all would wait for a census then: one that has begun is waited for
// longer. A copy follows no address. What is only recorded waits for none: while a capture is alive it may
// not be known that a census could begin, and whatever runs later asks then.
void Admission::gather_settled(Lock& lock, const AccessAsk& ask, InFlight* access) {
  gather(ask, access);
  if (!ask.enqueues || !has_suspects(*access)) return;
  const Nanoseconds start = state_.clock.now();
  Nanoseconds since = start;
  ++state_.held;
  state_.wake_engine();
  while (!state_.passive && has_suspects(*access)) {
    if (is_being_read(*access)) since = state_.clock.now();
    const bool due =
        state_.way_out_is_due(since) || state_.clock.now() - start >= state_.settings.longest_wait;
    if (access->has_way_out && due) {
      access->opaque = access->opaque || ask.may_run_from_host;
      break;
    }
    for (const GroupIndex group : access->groups) state_.groups[group].census_awaited = true;
    state_.settled.wait_for(lock, kLooksAgainAfter);
    gather(ask, access);
  }
  --state_.held;
  gather(ask, access);
}

bool Admission::has_suspects(const InFlight& access) const {
  return std::any_of(access.groups.begin(), access.groups.end(),
                     [this](GroupIndex group) { return state_.groups[group].suspect; });
}

// What it waits for is a kernel of ours, not others' work.
bool Admission::is_being_read(const InFlight& access) const {
  return std::all_of(access.groups.begin(), access.groups.end(), [this](GroupIndex index) {
    const Group& group = state_.groups[index];
    return !group.suspect || group.in_census;
  });
}

// ---- waiting

bool Admission::usable(const InFlight& access) const {
  const auto in_hbm = [this](ExtentIndex index) { return usable_in_hbm(state_.extents[index].state); };
  if (!std::all_of(access.will_touch.begin(), access.will_touch.end(), in_hbm)) return false;
  return access.will_touch.size() == access.may_touch.size() || usable_from_host(access);
}

bool Admission::usable_from_host(const InFlight& access) const {
  return std::all_of(access.may_touch.begin(), access.may_touch.end(), [this](ExtentIndex index) {
    const Extent& extent = state_.extents[index];
    return usable_in_hbm(extent.state) || (usable_on_host(extent.state) && extent.mapped);
  });
}

// Whoever comes while the first in line waits for others' work stands behind it, or that would never end; and
// in its quiescent window who may touch much, or its moves would be void.
bool Admission::must_queue(const InFlight& access) const {
  if (state_.waiting.empty() || access.may_touch.empty()) return false;
  const bool blocked = state_.waiting.front()->blocked_since != Nanoseconds();
  return blocked || (state_.window_of != nullptr && access.coarse);
}

bool Admission::wait_for_turn(Lock& lock, InFlight* access) {
  count(state_.statistics.stalls);
  access->waiting_since = state_.clock.now();
  state_.waiting.push_back(access);
  state_.wake_engine();
  bool said = false;
  bool let_in = false;
  while (!let_in && access->refusal.ok()) {
    let_in = state_.passive || (usable(*access) && may_pass(*access)) ||
             (usable_from_host(*access) && way_out_is_due(*access));
    if (let_in) break;
    state_.settled.wait_for(lock, kLooksAgainAfter);
    if (!said && state_.clock.now() - access->waiting_since > kSaysWhyAfter) {
      said = true;
      log::warn("an access has waited 10 s for {} extents to come into HBM; others hold the room",
                access->will_touch.size());
    }
  }
  std::erase(state_.waiting, access);
  if (state_.window_of == access) state_.window_of = nullptr;
  count(state_.statistics.stall_nanoseconds, (state_.clock.now() - access->waiting_since).count());
  state_.settled.notify_all();
  if (!state_.waiting.empty()) state_.wake_engine();
  return let_in;
}

// In mapped mode nobody stands in line longer than the way out allows (rule 4).
bool Admission::may_pass(const InFlight& access) const {
  if (state_.waiting.front() == &access || !must_queue(access)) return true;
  // In a window nothing but our own moves is waited for.
  if (state_.settings.detached || (state_.window_of != nullptr && access.coarse)) return false;
  return state_.way_out_is_due(access.waiting_since);
}

// The run-ahead limit (DESIGN 6.2): while memory is short, what is enqueued is held to a few milliseconds.
void Admission::hold_back(Lock& lock, StreamIndex stream) {
  const Nanoseconds since = state_.clock.now();
  const auto too_far_ahead = [this, stream] {
    const auto& markers = state_.order.stream(stream).markers;
    return markers.size() > 1 && state_.clock.now() - markers.front().enqueued_at > state_.settings.run_ahead;
  };
  if (!too_far_ahead()) return;
  ++state_.held;
  state_.wake_engine();
  while (!state_.passive && too_far_ahead() && !state_.way_out_is_due(since)) {
    state_.settled.wait_for(lock, kLooksAgainAfter);
  }
  --state_.held;
  count(state_.statistics.run_ahead_nanoseconds, state_.clock.now() - since);
}

bool Admission::way_out_is_due(const InFlight& access) const {
  return access.has_way_out && state_.way_out_is_due(access.blocked_since);
}

// ---- letting in

void Admission::let_in(const AccessAsk& ask, InFlight* access) {
  count(state_.statistics.accesses);
  const auto on_host = [this](ExtentIndex extent) { return !usable_in_hbm(state_.extents[extent].state); };
  access->from_host = !state_.context_lost &&  // then the driver has the answer
                      std::any_of(access->will_touch.begin(), access->will_touch.end(), on_host);
  if ((access->from_host || access->runs_partly_from_host) && ask.may_run_from_host)
    count(state_.statistics.host_runs);
  for (const ExtentIndex extent : access->may_touch) touch(extent);
  for (const GroupIndex group : access->groups) ++state_.groups[group].in_flight;
  if (access->opaque) ++state_.opaque_in_flight;
  access->active = true;
  note_addresses(ask);
  if (!ask.enqueues) return;
  const Nanoseconds now = state_.clock.now();
  state_.advisor.access({state_.order.last_number() + 1, access->stream, now, ask.signature, ask.opaque,
                         access->will_touch, access->may_touch, now - access->asked_at});
}

void Admission::touch(ExtentIndex index) {
  Extent& extent = state_.extents[index];
  if (!usable_in_hbm(extent.state) && !usable_on_host(extent.state)) return;  // passive: the driver judges
  const ExtentState before = extent.state;
  state_.apply(extent, ExtentEvent::kTouch);
  extent.host_current = false;
  if (usable_on_host(before)) extent.host_printed = false;  // it may be written where it lies
  if (before == extent.state) return;
  extent.move = 0;
  count(state_.statistics.cancels);
}

// What a copy is seen to write into memory is known at once.
void Admission::note_addresses(const AccessAsk& ask) {
  const GroupIndex to =
      ask.ranges[0].size.count() > 0 ? state_.units.group_at(ask.ranges[0].address) : kNoGroup;
  for (const CUdeviceptr address : ask.addresses) hold_address(to, address);
  const bool ours = ask.copies && to != kNoGroup && ask.ranges[1].size.count() > 0;
  const GroupIndex from = ours ? state_.units.group_at(ask.ranges[1].address) : kNoGroup;
  if (from == kNoGroup || from == to) return;
  if (state_.groups[from].suspect) {
    state_.groups[to].await_census(state_.new_judgement({0, true}));
  }
  for (const GroupIndex group : state_.groups[from].holds) hold_address(to, state_.groups[group].address);
}

// `holder` kNoGroup: memory that is not ours, which any kernel may read.
void Admission::hold_address(GroupIndex holder, CUdeviceptr address) {
  const GroupIndex group = state_.units.group_at(address);
  if (group == kNoGroup) return;
  std::vector<GroupIndex>& list = holder == kNoGroup ? state_.held_by_all : state_.groups[holder].holds;
  if (holder != kNoGroup) state_.groups[holder].census_is_whole = false;  // one under way may not see it
  if (std::find(list.begin(), list.end(), group) == list.end()) list.push_back(group);
}

// While memory moves: what an access may have written to waits for a census, unless its kind is trusted and
// nothing it touches holds addresses that it could pass on.
void Admission::make_suspect(InFlight* access) {
  if (!state_.short_of_memory || state_.settings.census == Settings::Census::kOff) return;
  if (!access->may_write_addresses) return;
  const bool given = std::any_of(access->groups.begin(), access->groups.end(),
                                 [this](GroupIndex index) { return !state_.groups[index].holds.empty(); });
  const bool always = state_.settings.census == Settings::Census::kAlways;
  if (!always && !given && state_.learned.trusted(access->signature)) return;
  const auto judgement = state_.new_judgement({access->signature, given});
  for (const GroupIndex index : access->groups) {
    if (!state_.groups[index].freed) state_.groups[index].await_census(judgement);
  }
}

bool Admission::leave(InFlight* access, Use* use) {
  const Lock lock(state_.mutex);
  for (const GroupIndex group : access->groups) --state_.groups[group].in_flight;
  if (access->opaque) --state_.opaque_in_flight;
  access->active = false;
  free_records_.push_back(access);
  if (!access->enqueues) return false;
  *use = state_.order.number_access(access->stream);
  for (const GroupIndex group : access->groups) {
    state_.groups[group].uses.add(*use);
  }
  if (access->opaque) state_.opaque_uses.add(*use);
  make_suspect(access);
  StreamOrder::Stream& stream = state_.order.stream(access->stream);
  if (access->host_wait) stream.last_host_wait = use->number;
  if (state_.short_of_memory) state_.wake_engine();
  return marker_is_due(stream);
}

// Sparse: an event costs as much as a launch may. A per-thread stream can be marked by its own thread alone,
// which may never call again: there every access is, or memory it used would look busy for good.
bool Admission::marker_is_due(const StreamOrder::Stream& stream) const {
  if (stream.kind == StreamKind::kPerThread) return true;
  if (!state_.short_of_memory) return false;
  return stream.unmarked >= kMostUnmarked || state_.clock.now() - stream.last_marker_at >= kMarkerEvery;
}

Admission::Alias Admission::alias(CUdeviceptr address) {
  const Lock lock(state_.mutex);
  const GroupIndex index = state_.units.group_at(address);
  if (index == kNoGroup) return {};
  for (const ExtentIndex i : state_.groups[index].extents) {
    const Extent& extent = state_.extents[i];
    if (address - extent.address >= extent.size.count()) continue;
    const Block* block = extent.hbm != nullptr && usable_in_hbm(extent.state) ? extent.hbm : extent.host;
    const Bytes offset(address - extent.address);
    return {block->address + offset.count(), extent.size - offset};
  }
  return {};
}

}  // namespace tencache::vmm
