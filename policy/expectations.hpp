// When every extent is expected to be touched next, in the order of a recorded past: which is missing and
// nearest, which could go and is farthest. Where extents are is believed from what was last seen and set
// right by whoever asks. Called by the learning policy. Thread rule: one caller at a time. Failure rule:
// none.
#pragma once

#include <optional>
#include <vector>

#include "policy/history.hpp"
#include "policy/position_set.hpp"

namespace tencache::policy {

class Expectations {
 public:
  enum class Place : std::uint8_t { kMissing, kClean, kDirty };

  explicit Expectations(History& history);
  void resize(std::size_t extents) { expected_.resize(extents); }
  // The extent is next touched where the record has `touch`; kNoTouch: nothing is expected of it.
  void expect(ExtentIndex extent, TouchIndex touch, Place place);
  void move(ExtentIndex extent, Place place);
  void forget(ExtentIndex extent) { expect(extent, kNoTouch, Place::kDirty); }
  void clear();
  // Expectations before this touch have not come true; they count no more.
  void begin_at(TouchIndex touch) { begin_ = touch; }
  [[nodiscard]] TouchIndex touch_of(ExtentIndex extent) const { return expected_[extent].touch; }

  // The first one at `from` or later, the last one before `before`: kNoTouch if there is none.
  TouchIndex first(Place place, TouchIndex from) const;
  TouchIndex last(Place place, TouchIndex before) const;
  [[nodiscard]] ExtentIndex extent_at(TouchIndex touch) const { return history_.touch(touch).bound; }

 private:
  struct Expected {
    TouchIndex touch = kNoTouch;
    Place place = Place::kDirty;
  };
  [[nodiscard]] PositionSet& set(Place place) { return sets_[static_cast<std::size_t>(place)]; }
  [[nodiscard]] const PositionSet& set(Place place) const { return sets_[static_cast<std::size_t>(place)]; }
  static std::uint32_t slot(TouchIndex touch) {
    return static_cast<std::uint32_t>(touch % History::kTouches);
  }

  History& history_;
  std::vector<Expected> expected_;
  std::vector<PositionSet> sets_;
  TouchIndex begin_ = 0;
};

}  // namespace tencache::policy
