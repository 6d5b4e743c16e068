// What a program has accessed, as far back as a ring reaches: a token and the touched extents of every
// access, and for every touch the next one of the same extent. Finds where the latest accesses happened
// before. Called by the learning policy. Thread rule: one caller at a time. Failure rule: none; what is too
// old is forgotten, and an access larger than the ring is recorded without its touches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "policy/policy.hpp"

namespace tencache::policy {

using AccessIndex = std::uint64_t;  // counts recorded accesses
using TouchIndex = std::uint64_t;   // counts recorded touches
using Identity = std::uint32_t;  // counts extents created, so that a reused ExtentIndex is known as another

inline constexpr ExtentIndex kNoExtent = ~ExtentIndex{0};
inline constexpr TouchIndex kNoTouch = ~TouchIndex{0};

// Whether a touch writes. Found out where the bytes are compared; what is not known may.
enum class Writes : std::uint8_t { kUnknown, kNo, kYes };

struct RecordedTouch {
  ExtentIndex extent;
  Identity identity;
  std::uint32_t to_next;      // touches on to the next one of the same extent; 0: none yet
  std::uint32_t to_previous;  // and back to the last one; 0: none
  std::uint32_t access;       // its access, the lower half of the index
  ExtentIndex bound;          // the extent that is expected to be touched when this repeats
  Writes writes;
};

struct RecordedAccess {
  std::uint64_t token;  // what was done, without what it was done to
  TouchIndex first;
  std::uint64_t time;  // nanoseconds
  std::uint32_t touches;
  Identity created;      // extents created before it
  std::uint32_t live;    // bytes of all extents then, in kLiveUnit
  std::uint32_t behind;  // accesses back to the last one with the same context; 0: none
  std::uint32_t number;  // the process's count, the lower half
  std::uint32_t stream;
  std::uint32_t waited;   // nanoseconds of `time` that it waited to be let in
  std::uint32_t took;     // nanoseconds on the GPU; 0: not measured
  std::uint32_t ended;    // nanoseconds after `time` that it had ended; 0: not measured
  std::uint32_t planned;  // the kernel of the plan that it is, and one; 0: none
};

static_assert(sizeof(RecordedAccess) == 64);  // one line of the cache

class History {
 public:
  static constexpr std::uint64_t kAccesses = std::uint64_t{1} << 17;
  static constexpr std::uint64_t kTouches = std::uint64_t{1} << 20;
  static constexpr std::uint64_t kLiveUnit = 512;
  static constexpr std::uint32_t kContext = 8;  // accesses that must agree before a place is looked at

  History();
  [[nodiscard]] AccessIndex head() const { return head_; }
  [[nodiscard]] TouchIndex touch_head() const { return touch_head_; }
  [[nodiscard]] const RecordedAccess& operator[](AccessIndex index) const {
    return accesses_[index % kAccesses];
  }
  [[nodiscard]] RecordedTouch& touch(TouchIndex index) { return touches_[index % kTouches]; }
  [[nodiscard]] const RecordedTouch& touch(TouchIndex index) const { return touches_[index % kTouches]; }
  [[nodiscard]] bool kept(AccessIndex index) const {
    return index < head_ && head_ - index < kAccesses && touch_head_ - (*this)[index].first <= kTouches;
  }
  [[nodiscard]] bool touch_kept(TouchIndex index) const {
    return index < touch_head_ && touch_head_ - index <= kTouches;
  }
  [[nodiscard]] TouchIndex next(TouchIndex index) const {
    const std::uint32_t step = touch(index).to_next;
    return step == 0 ? kNoTouch : index + step;
  }
  [[nodiscard]] AccessIndex access_of(TouchIndex index) const {
    return head_ - static_cast<std::uint32_t>(static_cast<std::uint32_t>(head_) - touch(index).access);
  }

  // The extent of that index has been made (and is that one from now on), or has gone.
  void created(ExtentIndex extent, Identity identity);
  void destroyed(ExtentIndex extent) { alive_[extent] = 0; }
  [[nodiscard]] bool alive(ExtentIndex extent, Identity identity) const {
    return extent < alive_.size() && alive_[extent] == identity;
  }

  // `token`: see RecordedAccess.
  AccessIndex append(std::uint64_t token, const Access& access, Identity created, Bytes live);
  void set_planned(AccessIndex index, std::uint32_t planned) {
    accesses_[index % kAccesses].planned = planned;
  }
  // Accesses of the stream up to `number` have ended.
  void ended(StreamIndex stream, std::uint64_t number, Nanoseconds begin, Nanoseconds end);
  // Of the access appended last; `previous` is the same extent's touch before, or kNoTouch.
  TouchIndex add_touch(ExtentIndex extent, Identity identity, TouchIndex previous);
  // The extent expected at the touch that the next one takes the place of.
  [[nodiscard]] ExtentIndex forgotten_next() const {
    return touch_head_ < kTouches ? kNoExtent : touch(touch_head_).bound;
  }
  // The access before the last that its context agrees with longest, the oldest of several.
  struct Place {
    AccessIndex access;
    std::uint64_t agreeing;  // accesses, backwards from it
  };
  [[nodiscard]] std::optional<Place> find_again() const;
  // Enters the access appended last, its touches complete, so that later ones find it.
  void enter();
  // Whether two accesses of the same token may be the same one: what the old one touched and lives is touched
  // again, or something created as long before.
  [[nodiscard]] bool alike(AccessIndex old, AccessIndex recent) const;
  // The most bytes alive at the accesses in (first, last].
  [[nodiscard]] std::uint64_t most_live(AccessIndex first, AccessIndex last) const;
  [[nodiscard]] std::uint64_t live(AccessIndex index) const { return (*this)[index].live * kLiveUnit; }

 private:
  class Search;
  void look_along_extents(Search& search) const;
  void look_along_contexts(Search& search) const;
  [[nodiscard]] std::uint64_t agreeing(AccessIndex old, AccessIndex recent) const;
  [[nodiscard]] std::size_t bucket() const;

  std::unique_ptr<RecordedAccess[]> accesses_;  // left as they are until used: pages come with need
  std::unique_ptr<RecordedTouch[]> touches_;
  std::vector<Identity> alive_;           // per extent; 0: none
  std::vector<std::uint32_t> most_live_;  // of every kLiveBlock accesses
  std::vector<std::uint32_t> latest_;     // per context: the last access's index and one, lower half
  std::vector<AccessIndex> unended_;      // per stream: accesses before this have ended
  AccessIndex head_ = 0;
  TouchIndex touch_head_ = 0;
  std::uint64_t context_ = 0;  // of the last kContext tokens
};

}  // namespace tencache::policy
