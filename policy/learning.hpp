// Learns what a program repeats, and moves by it: what is needed next comes in ahead of its use, the farthest
// clean extent leaves, what will leave first is copied out early. Until something repeats, what was accessed
// longest ago leaves. Made by the registry under the name `learn`; the engine and the simulator run this very
// object. How it is to be called:
//   - extent_created / extent_destroyed for every allocation and free, in the program's order;
//   - access() for every access, in the order of enqueuing: a few hundred nanoseconds at most while something
//     is followed, no allocation;
//   - next_fetch(), next_clean(), victim() as often as a link or a waiting access has need. next_fetch() may
//     name an extent for which room must be made first: then victim() is asked, and what it names is needed
//     later than what is fetched. Nothing is asked to move while all that lives fits.
// Thread and failure rules: see policy.hpp.
#pragma once

#include <vector>

#include "policy/cleaning_queue.hpp"
#include "policy/expectations.hpp"
#include "policy/link_meter.hpp"
#include "policy/lru.hpp"
#include "policy/replay_cursor.hpp"
#include "policy/step_plan.hpp"

namespace tencache::policy {

class Learning final : public Policy {
 public:
  Learning();
  [[nodiscard]] const char* name() const override { return "learn"; }
  void extent_created(const ExtentDescription& extent) override;
  void extent_destroyed(ExtentIndex extent) override;
  void access(const Access& access) override;
  void completed(StreamIndex stream, std::uint64_t number, Nanoseconds begin, Nanoseconds end) override {
    history_.ended(stream, number, begin, end);
  }
  void copied(const Transfer& transfer) override { meter_.copied(transfer); }
  void remapped(std::uint32_t extents, Nanoseconds took) override { meter_.remapped(extents, took); }
  void examined(ExtentIndex extent, Finding finding) override;
  std::unique_ptr<Work> work(const Residency& residency) override;
  void worked(std::unique_ptr<Work> work) override;
  std::optional<ExtentIndex> victim(const Residency& residency) override;
  std::optional<ExtentIndex> next_fetch(const Residency& residency) override;
  std::optional<ExtentIndex> next_clean(const Residency& residency) override;

  [[nodiscard]] std::optional<Trace> recorded_step() const override;

  [[nodiscard]] const ReplayCursor& cursor() const { return cursor_; }

 private:
  using Place = Expectations::Place;
  struct Known {  // of an extent
    Identity identity = 0;
    TouchIndex last_touch = kNoTouch;
    Bytes size;
    TouchIndex examined = kNoTouch;  // after this touch its bytes were the copy's
  };
  struct Creation {
    Identity identity = 0;
    ExtentIndex extent = kNoExtent;
    Bytes size;
  };

  AccessIndex record(const Access& access);
  void follow(AccessIndex matched, const Access& access);
  void give_up(AccessIndex skipped);
  template <class Do>
  bool touches_since_copy(const Known& known, const Do& what);
  void learn_writes(const Known& known, Finding finding);
  void set_writes(TouchIndex touch, Writes writes);
  void expect_anew(const Residency& residency);
  [[nodiscard]] ExtentIndex stands_for(const RecordedTouch& touch, Identity shift, Identity created) const;
  [[nodiscard]] Bytes size_of(const RecordedTouch& touch) const;
  static Place place_of(const ExtentState& state);
  [[nodiscard]] TouchIndex horizon() const;
  [[nodiscard]] bool trusted() const { return cursor_.following() && cursor_.agreed() >= kTrusted; }
  [[nodiscard]] bool worth_displacing(TouchIndex touch, const Residency& residency);
  [[nodiscard]] bool is_beyond_margin(ExtentIndex extent) const;
  [[nodiscard]] bool is_due(AccessIndex access) const;
  [[nodiscard]] bool within_reach(AccessIndex access) const;
  std::optional<ExtentIndex> never_again(const Residency& residency) const;
  std::optional<ExtentIndex> farthest(Place place, const Residency& residency);
  std::optional<ExtentIndex> planned_clean(const Residency& residency);
  std::optional<ExtentIndex> eager_clean(const Residency& residency);
  void settle(const Residency& residency);
  // Following a plan (learning_plan.cpp).
  void adopt(std::unique_ptr<StepPlan> plan);
  void follow_plan(AccessIndex matched, const Access& access);
  [[nodiscard]] const StepPlan* plan_at(AccessIndex access) const;
  [[nodiscard]] bool needs_plan(const Machine& machine, Effort* effort) const;
  [[nodiscard]] double measured_seconds() const;
  void unsettle(ExtentIndex extent) { unsettled_[unsettled_end_++ % kUnsettled] = extent; }

  static constexpr std::uint64_t kTrusted = 16;  // agreeing accesses before what is expected decides
  static constexpr std::uint32_t kPassedOver = 64;
  static constexpr std::uint32_t kTouchesJudged = 256;
  static constexpr std::uint64_t kUnsettled = 1 << 15;
  static constexpr std::uint32_t kSettledAtOnce = 64;

  History history_;
  ReplayCursor cursor_{history_};
  Expectations expectations_{history_};
  LeastRecentlyUsed lru_;
  std::vector<Known> known_;
  std::vector<Creation> creations_;  // the latest, a ring by identity
  // Extents touched or being copied since they were last looked at, a ring; the oldest may be lost.
  std::vector<ExtentIndex> unsettled_;
  std::uint64_t unsettled_begin_ = 0, unsettled_end_ = 0;
  Identity created_ = 0;
  Bytes live_;
  Bytes most_live_;
  Period locked_;  // the last that was known as a whole
  LinkMeter meter_;
  std::unique_ptr<StepPlan> plan_;
  CleaningQueue cleanings_;         // what the plan wants copied out, and when
  bool on_plan_ = false;            // the last access was where the plan expected it
  bool planning_ = false;           // work of ours is under way
  std::uint64_t found_out_ = 0;     // touches of which it was found out whether they write
  std::uint64_t planned_with_ = 0;  // those that the plan was made with
  AccessIndex looked_at_plan_ = 0;  // when it was last asked whether another plan is needed
  AccessIndex short_until_ = 0;     // until then everything is cleaned: the plan's clean extents did not do
  Bytes largest_;                   // extent
  bool astray_ = false;             // the cursor has jumped: expectations are to be made anew
};

}  // namespace tencache::policy
