#include "policy/learning.hpp"

#include <algorithm>
#include <utility>

namespace tencache::policy {
namespace {

constexpr std::size_t kCreations = std::size_t{1} << 16;
constexpr std::uint64_t kTouchesWalked = std::uint64_t{1} << 17;
constexpr Nanoseconds kLookAhead = 300_ms;  // within which a fetch may displace what is needed later
constexpr std::uint64_t kAtLeastAhead = 8;  // or so many accesses
constexpr std::uint64_t kDepth = 4;         // accesses foreseen for each that has agreed

bool may_leave(const ExtentState& state) { return state.tier == Tier::kHbm && !state.held && !state.moving; }

}  // namespace

Learning::Learning() : creations_(kCreations), unsettled_(kUnsettled) {}

void Learning::extent_created(const ExtentDescription& extent) {
  lru_.extent_created(extent);
  if (extent.extent >= known_.size()) {
    known_.resize(extent.extent + 1);
    expectations_.resize(known_.size());
    cleanings_.resize(known_.size());
  }
  known_[extent.extent] = {++created_, kNoTouch, extent.size};
  history_.created(extent.extent, created_);
  creations_[created_ % kCreations] = {created_, extent.extent, extent.size};
  live_ += extent.size;
  largest_ = std::max(largest_, extent.size);
  most_live_ = std::max(most_live_, live_);
}

void Learning::extent_destroyed(ExtentIndex extent) {
  lru_.extent_destroyed(extent);
  history_.destroyed(extent);
  expectations_.forget(extent);
  cleanings_.remove(extent);
  live_ -= known_[extent].size;
  known_[extent] = {};
}

void Learning::examined(ExtentIndex extent, Finding finding) {
  Known& known = known_[extent];
  if (finding != Finding::kCopied && known.examined != kNoTouch) learn_writes(known, finding);
  if (finding != Finding::kWritten) known.examined = known.last_touch;
}

// False where that is too far back.
template <class Do>
bool Learning::touches_since_copy(const Known& known, const Do& what) {
  TouchIndex touch = known.last_touch;
  for (std::uint32_t i = 0; touch != known.examined; ++i) {
    if (i == kTouchesJudged || !history_.touch_kept(touch)) return false;
    what(touch);
    const std::uint32_t back = history_.touch(touch).to_previous;
    if (back == 0) return false;
    touch -= back;
  }
  return true;
}

void Learning::set_writes(TouchIndex touch, Writes writes) {
  if (std::exchange(history_.touch(touch).writes, writes) != writes) ++found_out_;
}

// None of the touches since the copy has written; or one has, and where only one may have it was that.
void Learning::learn_writes(const Known& known, Finding finding) {
  TouchIndex writer = kNoTouch;
  std::uint32_t may_write = 0;
  const auto look = [&](TouchIndex touch) {
    if (history_.touch(touch).writes == Writes::kNo) return;
    writer = touch;
    ++may_write;
  };
  const auto all = [&](Writes writes) {
    touches_since_copy(known, [&](TouchIndex touch) { set_writes(touch, writes); });
  };
  if (!touches_since_copy(known, look)) return;
  if (finding == Finding::kUnchanged) return all(Writes::kNo);
  if (may_write == 1) set_writes(writer, Writes::kYes);
  if (may_write == 0) all(Writes::kUnknown);  // it is not as it was
}

void Learning::access(const Access& access) {
  lru_.access(access);
  record(access);
  const ReplayCursor::Step step = cursor_.observe();
  history_.enter();
  on_plan_ = false;
  switch (step.kind) {
    case ReplayCursor::Step::Kind::kMatched:
      follow(step.access, access);
      break;
    case ReplayCursor::Step::Kind::kJumped:
    case ReplayCursor::Step::Kind::kLost:
      astray_ = true;
      break;
    case ReplayCursor::Step::Kind::kNothing:
      for (const ExtentIndex extent : access.will_touch) expectations_.move(extent, Place::kDirty);
      break;
  }
  while (const auto skipped = cursor_.skipped()) give_up(*skipped);
  if (cursor_.locked()) locked_ = {history_.head(), cursor_.lag()};
  if (cursor_.following()) expectations_.begin_at(history_[cursor_.expected()].first);
}

AccessIndex Learning::record(const Access& access) {
  const std::uint64_t token = access.signature * 0x9E3779B97F4A7C15u + access.will_touch.size();
  const AccessIndex index = history_.append(token, access, created_, live_);
  if (history_[index].touches == 0) return index;
  for (const ExtentIndex extent : access.will_touch) {
    if (const ExtentIndex expected = history_.forgotten_next(); expected != kNoExtent) {
      expectations_.forget(expected);
    }
    Known& known = known_[extent];
    known.last_touch = history_.add_touch(extent, known.identity, known.last_touch);
  }
  return index;
}

// What happened at `matched` happens again: each extent's next touch is where that of the recorded one was.
void Learning::follow(AccessIndex matched, const Access& access) {
  const RecordedAccess& recorded = history_[history_.head() - 1];
  TouchIndex touch = history_[matched].first;
  for (std::uint32_t slot = 0; slot < history_[matched].touches; ++slot, ++touch) {
    expectations_.expect(access.will_touch[slot], history_.next(touch), Place::kDirty);
    unsettle(access.will_touch[slot]);
    if (slot < recorded.touches) history_.touch(recorded.first + slot).writes = history_.touch(touch).writes;
  }
  if (plan_ != nullptr) follow_plan(matched, access);
}

// An access that was expected has not come: what it touched is expected at the next one that touches it.
void Learning::give_up(AccessIndex skipped) {
  TouchIndex touch = history_[skipped].first;
  for (std::uint32_t slot = 0; slot < history_[skipped].touches; ++slot, ++touch) {
    const ExtentIndex extent = expectations_.extent_at(touch);
    if (extent == kNoExtent) continue;
    expectations_.expect(extent, history_.next(touch), Place::kMissing);
  }
}

// The extent alive now that takes the part of a recorded one: the same, or one created as long before.
ExtentIndex Learning::stands_for(const RecordedTouch& touch, Identity shift, Identity created) const {
  if (history_.alive(touch.extent, touch.identity)) return touch.extent;
  if (touch.identity > created) return kNoExtent;  // then it was still to come
  const Creation& creation = creations_[(touch.identity + shift) % kCreations];
  if (creation.identity != touch.identity + shift) return kNoExtent;
  return history_.alive(creation.extent, creation.identity) ? creation.extent : kNoExtent;
}

void Learning::expect_anew(const Residency& residency) {
  astray_ = false;
  expectations_.clear();
  if (!cursor_.following() || cursor_.expected() >= history_.head()) return;
  const RecordedAccess& begin = history_[cursor_.expected()];
  const Identity created = cursor_.expected() > 0 ? history_[cursor_.expected() - 1].created : begin.created;
  const Identity shift = created_ - created;
  const TouchIndex end = std::min(history_.touch_head(), begin.first + kTouchesWalked);
  expectations_.begin_at(begin.first);
  for (TouchIndex touch = begin.first; touch < end; ++touch) history_.touch(touch).bound = kNoExtent;
  for (TouchIndex touch = begin.first; touch < end; ++touch) {
    const ExtentIndex extent = stands_for(history_.touch(touch), shift, created);
    if (extent == kNoExtent || expectations_.touch_of(extent) != kNoTouch) continue;
    expectations_.expect(extent, touch, place_of(residency.extents[extent]));
  }
}

Expectations::Place Learning::place_of(const ExtentState& state) {
  if (state.tier != Tier::kHbm) return Place::kMissing;
  return state.clean ? Place::kClean : Place::kDirty;
}

std::optional<ExtentIndex> Learning::victim(const Residency& residency) {
  if (astray_) expect_anew(residency);
  if (!trusted()) return lru_.victim(residency);
  if (const auto extent = never_again(residency)) return extent;
  settle(residency);
  const auto clean = farthest(Place::kClean, residency);
  if (clean && is_beyond_margin(*clean)) return clean;
  if (on_plan_ && !clean) short_until_ = history_.head() + plan_->length();
  if (const auto extent = farthest(Place::kDirty, residency)) return extent;
  return clean ? clean : lru_.victim(residency);
}

// A plan may say that it is better to wait for what is needed late to be copied out than to drop what is
// needed soon.
bool Learning::is_beyond_margin(ExtentIndex extent) const {
  if (!on_plan_ || plan_->plan.margin == 0 || cursor_.expected() >= history_.head()) return true;
  const auto margin =
      static_cast<TouchIndex>(plan_->plan.margin * static_cast<double>(plan_->plan.dropped.size()));
  return expectations_.touch_of(extent) >= history_[cursor_.expected()].first + margin;
}

// What was not touched for a whole period: only once that is known.
std::optional<ExtentIndex> Learning::never_again(const Residency& residency) const {
  if (!cursor_.locked()) return std::nullopt;
  const AccessIndex begin = cursor_.expected();
  std::optional<ExtentIndex> dirty;
  const auto untouched = [&](ExtentIndex extent) {
    const TouchIndex last = known_[extent].last_touch;
    return last == kNoTouch || !history_.touch_kept(last) || history_.access_of(last) < begin;
  };
  lru_.oldest_while(untouched, [&](ExtentIndex extent) {
    const ExtentState state = residency.extents[extent];
    if (!may_leave(state) || expectations_.touch_of(extent) != kNoTouch) return true;
    if (!dirty || state.clean) dirty = extent;
    return !state.clean;
  });
  return dirty;
}

// What was touched or copied since the last question may be clean by now.
void Learning::settle(const Residency& residency) {
  unsettled_begin_ =
      std::max(unsettled_begin_, unsettled_end_ > kUnsettled ? unsettled_end_ - kUnsettled : 0);
  const std::uint64_t end = std::min(unsettled_end_, unsettled_begin_ + kSettledAtOnce);
  while (unsettled_begin_ < end) {
    const ExtentIndex extent = unsettled_[unsettled_begin_++ % kUnsettled];
    if (expectations_.touch_of(extent) == kNoTouch) continue;
    const ExtentState state = residency.extents[extent];
    expectations_.move(extent, place_of(state));
    if (state.held || state.moving) unsettle(extent);
  }
}

std::optional<ExtentIndex> Learning::farthest(Place place, const Residency& residency) {
  TouchIndex touch = history_.touch_head();
  for (std::uint32_t i = 0; i < kPassedOver;) {
    touch = expectations_.last(place, touch);
    if (touch == kNoTouch) return std::nullopt;
    const ExtentIndex extent = expectations_.extent_at(touch);
    const ExtentState state = residency.extents[extent];
    if (place_of(state) != place && !state.moving) {
      expectations_.move(extent, place_of(state));
    } else if (may_leave(state) && place_of(state) == place) {
      return extent;
    } else {
      ++i;
    }
  }
  return std::nullopt;
}

// How far what is expected is believed: the deeper the longer it has come true.
TouchIndex Learning::horizon() const {
  const std::uint64_t depth = cursor_.agreed() * kDepth;
  const AccessIndex last = cursor_.expected() + depth;
  return last >= history_.head() ? history_.touch_head() : history_[last].first;
}

std::optional<ExtentIndex> Learning::next_fetch(const Residency& residency) {
  if (astray_) expect_anew(residency);
  if (!cursor_.following() || cursor_.expected() >= history_.head()) return std::nullopt;
  TouchIndex touch = history_[cursor_.expected()].first;
  const TouchIndex end = horizon();
  for (std::uint32_t i = 0; i < kPassedOver;) {
    touch = expectations_.first(Place::kMissing, touch);
    if (touch == kNoTouch || touch >= end) return std::nullopt;
    const ExtentIndex extent = expectations_.extent_at(touch);
    const ExtentState state = residency.extents[extent];
    if (state.tier == Tier::kHbm && !state.moving) {
      expectations_.move(extent, place_of(state));
      continue;
    }
    if (!state.moving && state.tier != Tier::kNone) {
      return worth_displacing(touch, residency) ? std::optional(extent) : std::nullopt;
    }
    ++touch;
    ++i;
  }
  return std::nullopt;
}

// Whether room is free for it, what will be created until then counted; or something may go for it that is
// needed later.
bool Learning::worth_displacing(TouchIndex touch, const Residency& residency) {
  const ExtentIndex extent = expectations_.extent_at(touch);
  const AccessIndex access = history_.access_of(touch);
  const AccessIndex now = cursor_.expected() > 0 ? cursor_.expected() - 1 : 0;
  const std::uint64_t live = history_.live(now);
  const std::uint64_t most = history_.most_live(now, access);
  const std::uint64_t room = residency.extents[extent].size.count() + (most > live ? most - live : 0);
  if (residency.hbm_free.count() >= room) return true;
  if (!trusted() || !is_due(access)) return false;
  settle(residency);
  const auto victim = farthest(Place::kClean, residency);
  return victim && expectations_.touch_of(*victim) > touch &&
         history_.access_of(expectations_.touch_of(*victim)) > access;
}

// Where there is a plan it says how far ahead of an access something may go for it.
bool Learning::is_due(AccessIndex access) const {
  const StepPlan* plan = plan_at(access);
  if (plan == nullptr) return within_reach(access);
  return plan->plan.lead[history_[access].planned - 1] > access - cursor_.expected();
}

bool Learning::within_reach(AccessIndex access) const {
  if (access < cursor_.expected() + kAtLeastAhead) return true;
  return history_[access].time - history_[cursor_.expected()].time <= kLookAhead.count();
}

Bytes Learning::size_of(const RecordedTouch& touch) const {
  const Creation& creation = creations_[touch.identity % kCreations];
  if (creation.identity == touch.identity) return creation.size;
  return history_.alive(touch.extent, touch.identity) ? known_[touch.extent].size : Bytes();
}

std::optional<Trace> Learning::recorded_step() const {
  auto step = policy::recorded_step(
      history_, locked_, [this](const RecordedTouch& touch) { return size_of(touch); }, Touches::kRead);
  return step ? std::optional(std::move(step->trace)) : std::nullopt;
}

std::optional<ExtentIndex> Learning::next_clean(const Residency& residency) {
  if (astray_) expect_anew(residency);
  if (most_live_ <= residency.hbm_total || !trusted()) return std::nullopt;
  settle(residency);
  if (!on_plan_) return eager_clean(residency);
  if (const auto extent = planned_clean(residency)) return extent;
  return plan_->plan.eager || history_.head() < short_until_ ? eager_clean(residency) : std::nullopt;
}

std::optional<ExtentIndex> Learning::planned_clean(const Residency& residency) {
  for (std::uint32_t i = 0; i < kPassedOver; ++i) {
    const auto extent = cleanings_.take();
    if (!extent) break;
    const ExtentState state = residency.extents[*extent];
    if (state.tier != Tier::kHbm || state.clean) continue;
    cleanings_.put_off();
    if (!may_leave(state)) continue;
    cleanings_.put_back();
    unsettle(*extent);
    return extent;
  }
  cleanings_.put_back();
  return std::nullopt;
}

std::optional<ExtentIndex> Learning::eager_clean(const Residency& residency) {
  TouchIndex touch = history_.touch_head();
  for (std::uint32_t i = 0; i < kPassedOver;) {
    touch = expectations_.last(Place::kDirty, touch);
    if (touch == kNoTouch) return std::nullopt;
    const ExtentIndex extent = expectations_.extent_at(touch);
    const ExtentState state = residency.extents[extent];
    if (place_of(state) != Place::kDirty && !state.moving) {
      expectations_.move(extent, place_of(state));
    } else if (may_leave(state) && !state.clean) {
      unsettle(extent);
      return extent;
    } else {
      ++i;
    }
  }
  return std::nullopt;
}

}  // namespace tencache::policy
