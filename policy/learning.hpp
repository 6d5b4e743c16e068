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

#include "policy/expectations.hpp"
#include "policy/lru.hpp"
#include "policy/replay_cursor.hpp"

namespace tencache::policy {

class Learning final : public Policy {
 public:
  Learning();
  [[nodiscard]] const char* name() const override { return "learn"; }
  void extent_created(const ExtentDescription& extent) override;
  void extent_destroyed(ExtentIndex extent) override;
  void access(const Access& access) override;
  void completed(std::uint64_t, Nanoseconds, Nanoseconds) override {}
  std::optional<ExtentIndex> victim(const Residency& residency) override;
  std::optional<ExtentIndex> next_fetch(const Residency& residency) override;
  std::optional<ExtentIndex> next_clean(const Residency& residency) override;

  [[nodiscard]] const ReplayCursor& cursor() const { return cursor_; }

 private:
  using Place = Expectations::Place;
  struct Known {  // of an extent
    Identity identity = 0;
    TouchIndex last_touch = kNoTouch;
    Bytes size;
  };
  struct Creation {
    Identity identity = 0;
    ExtentIndex extent = kNoExtent;
  };

  AccessIndex record(const Access& access);
  void follow(AccessIndex matched, const Access& access);
  void give_up(AccessIndex skipped);
  void expect_anew(const Residency& residency);
  [[nodiscard]] ExtentIndex stands_for(const RecordedTouch& touch, Identity shift, Identity created) const;
  static Place place_of(const ExtentState& state);
  [[nodiscard]] TouchIndex horizon() const;
  [[nodiscard]] bool trusted() const { return cursor_.following() && cursor_.agreed() >= kTrusted; }
  [[nodiscard]] bool worth_displacing(TouchIndex touch, const Residency& residency);
  [[nodiscard]] bool within_reach(AccessIndex access) const;
  std::optional<ExtentIndex> never_again(const Residency& residency) const;
  std::optional<ExtentIndex> farthest(Place place, const Residency& residency);
  void settle(const Residency& residency);
  void unsettle(ExtentIndex extent) { unsettled_[unsettled_end_++ % kUnsettled] = extent; }

  static constexpr std::uint64_t kTrusted = 16;  // agreeing accesses before what is expected decides
  static constexpr std::uint32_t kPassedOver = 64;
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
  bool astray_ = false;  // the cursor has jumped: expectations are to be made anew
};

}  // namespace tencache::policy
