#include "policy/expectations.hpp"

#include <algorithm>

namespace tencache::policy {

Expectations::Expectations(History& history)
    : history_(history), sets_(3, PositionSet(static_cast<std::uint32_t>(History::kTouches))) {}

void Expectations::expect(ExtentIndex extent, TouchIndex touch, Place place) {
  Expected& expected = expected_[extent];
  if (expected.touch != kNoTouch) {
    set(expected.place).erase(slot(expected.touch));
    history_.touch(expected.touch).bound = kNoExtent;
  }
  expected = {touch, place};
  if (touch == kNoTouch) return;
  const ExtentIndex other = history_.touch(touch).bound;
  if (other != kNoExtent && other != extent) {
    set(expected_[other].place).erase(slot(touch));
    expected_[other].touch = kNoTouch;
  }
  history_.touch(touch).bound = extent;
  set(place).insert(slot(touch));
}

void Expectations::move(ExtentIndex extent, Place place) {
  Expected& expected = expected_[extent];
  if (expected.touch != kNoTouch && expected.place != place) {
    set(expected.place).erase(slot(expected.touch));
    set(place).insert(slot(expected.touch));
  }
  expected.place = place;
}

void Expectations::clear() {
  for (ExtentIndex extent = 0; extent < expected_.size(); ++extent) forget(extent);
}

TouchIndex Expectations::first(Place place, TouchIndex from) const {
  from = std::max(from, begin_);
  if (from >= history_.touch_head()) return kNoTouch;
  std::uint32_t found = set(place).next(slot(from));
  if (found == PositionSet::kNone) found = set(place).next(0);
  if (found == PositionSet::kNone) return kNoTouch;
  const TouchIndex touch = from + (found + History::kTouches - slot(from)) % History::kTouches;
  return touch < history_.touch_head() ? touch : kNoTouch;
}

TouchIndex Expectations::last(Place place, TouchIndex before) const {
  if (before <= begin_) return kNoTouch;
  const TouchIndex newest = before - 1;
  std::uint32_t found = set(place).previous(slot(newest) + 1);
  if (found == PositionSet::kNone) found = set(place).previous(static_cast<std::uint32_t>(History::kTouches));
  if (found == PositionSet::kNone) return kNoTouch;
  const std::uint64_t back = (slot(newest) + History::kTouches - found) % History::kTouches;
  return newest - begin_ >= back ? newest - back : kNoTouch;
}

}  // namespace tencache::policy
