#include "policy/history.hpp"

#include <algorithm>

namespace tencache::policy {
namespace {

constexpr std::uint64_t kLiveBlock = 64;
constexpr std::size_t kContexts = std::size_t{1} << 17;
constexpr std::uint32_t kPlaces = 64;           // looked at in one search
constexpr std::uint64_t kMostAgreeing = 4096;   // accesses that one place is compared over
constexpr std::uint64_t kMostCompared = 16384;  // and all of them
constexpr std::uint32_t kTouchesBack = 32;      // of an extent
constexpr std::uint32_t kSlots = 8;             // of an access that are compared
constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15u;

constexpr std::uint64_t power(std::uint64_t base, std::uint32_t exponent) {
  std::uint64_t result = 1;
  for (; exponent > 0; --exponent) result *= base;
  return result;
}

constexpr std::uint64_t kMostUnended = 4096;  // accesses that are looked through for those that have ended

std::uint32_t within_32_bits(Nanoseconds time) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(time.count(), ~std::uint32_t{0}));
}

constexpr std::uint64_t kLeaving = power(kBase, History::kContext);  // what a token counts when it leaves

}  // namespace

History::History()
    : accesses_(new RecordedAccess[kAccesses]),
      touches_(new RecordedTouch[kTouches]),
      most_live_(kAccesses / kLiveBlock, 0),
      latest_(kContexts, 0) {}

void History::created(ExtentIndex extent, Identity identity) {
  if (extent >= alive_.size()) alive_.resize(extent + 1, 0);
  alive_[extent] = identity;
}

AccessIndex History::append(std::uint64_t token, const Access& access, Identity created, Bytes live) {
  const std::uint64_t leaving = head_ >= kContext ? (*this)[head_ - kContext].token : 0;
  context_ = context_ * kBase + token - leaving * kLeaving;
  const auto units = static_cast<std::uint32_t>(live.count() / kLiveUnit);
  const bool fits = access.will_touch.size() <= kTouches / 4;
  accesses_[head_ % kAccesses] = {.token = token,
                                  .first = touch_head_,
                                  .time = access.enqueued_at.count(),
                                  .touches = fits ? static_cast<std::uint32_t>(access.will_touch.size()) : 0,
                                  .created = created,
                                  .live = units,
                                  .behind = 0,
                                  .number = static_cast<std::uint32_t>(access.number),
                                  .stream = access.stream,
                                  .waited = within_32_bits(access.waited),
                                  .took = 0,
                                  .ended = 0,
                                  .planned = 0};
  std::uint32_t& most = most_live_[head_ % kAccesses / kLiveBlock];
  most = head_ % kLiveBlock == 0 ? units : std::max(most, units);
  return head_++;
}

// What is covered by one marker shares its time equally; no access begins before it was enqueued.
void History::ended(StreamIndex stream, std::uint64_t number, Nanoseconds begin, Nanoseconds end) {
  if (stream >= unended_.size()) unended_.resize(stream + 1, 0);
  const AccessIndex first = std::max(unended_[stream], head_ > kMostUnended ? head_ - kMostUnended : 0);
  const auto last = static_cast<std::uint32_t>(number);
  const auto covered = [&](const RecordedAccess& access) {
    return access.stream == stream && static_cast<std::int32_t>(last - access.number) >= 0;
  };
  std::uint64_t count = 0;
  std::uint64_t first_covered = 0;
  AccessIndex at = first;
  for (; at < head_ && static_cast<std::int32_t>(last - (*this)[at].number) >= 0; ++at) {
    if (!covered((*this)[at])) continue;
    if (count++ == 0) first_covered = (*this)[at].time;
  }
  unended_[stream] = at;
  const Nanoseconds enqueued(first_covered);
  begin = std::max(begin, enqueued);
  const Nanoseconds took = end > begin && count > 0 ? (end - begin) / count : Nanoseconds();
  for (AccessIndex i = first; i < at; ++i) {
    RecordedAccess& access = accesses_[i % kAccesses];
    if (!covered(access)) continue;
    access.took = std::max(1u, within_32_bits(took));
    access.ended =
        std::max(1u, within_32_bits(Nanoseconds(end.count() - std::min(end.count(), access.time))));
  }
}

TouchIndex History::add_touch(ExtentIndex extent, Identity identity, TouchIndex previous) {
  std::uint32_t back = 0;
  if (previous != kNoTouch && touch_kept(previous)) {
    touch(previous).to_next = back = static_cast<std::uint32_t>(touch_head_ - previous);
  }
  touch(touch_head_) = {extent,    identity,        0, back, static_cast<std::uint32_t>(head_ - 1),
                        kNoExtent, Writes::kUnknown};
  return touch_head_++;
}

std::size_t History::bucket() const { return (context_ ^ (context_ >> 32)) % kContexts; }

void History::enter() {
  std::uint32_t& latest = latest_[bucket()];
  const auto now = static_cast<std::uint32_t>(head_);
  accesses_[(head_ - 1) % kAccesses].behind = latest == 0 ? 0 : now - latest;
  latest = now;
}

// The best place so far, and what looking has cost.
class History::Search {
 public:
  explicit Search(const History& history) : history_(history) {}
  void look_at(AccessIndex place) {
    const std::uint64_t agreeing = history_.agreeing(place, history_.head_ - 1);
    compared_ += agreeing + 1;
    if (agreeing >= kContext && (!best_ || agreeing >= best_->agreeing)) best_ = {place, agreeing};
  }
  [[nodiscard]] bool tired() const { return compared_ >= kMostCompared; }
  [[nodiscard]] const std::optional<Place>& best() const { return best_; }

 private:
  const History& history_;
  std::optional<Place> best_;
  std::uint64_t compared_ = 0;
};

std::optional<History::Place> History::find_again() const {
  if (head_ <= kContext) return std::nullopt;
  Search search(*this);
  look_along_extents(search);
  if (!search.best()) look_along_contexts(search);
  return search.best();
}

// The same was done before to an extent that lives still: where many places look alike, as layers do.
void History::look_along_extents(Search& search) const {
  const RecordedAccess& recent = (*this)[head_ - 1];
  for (std::uint32_t slot = 0; slot < std::min(recent.touches, kSlots / 2); ++slot) {
    TouchIndex at = recent.first + slot;
    for (std::uint32_t i = 0; i < kTouchesBack && !search.tired() && touch(at).to_previous != 0; ++i) {
      at -= touch(at).to_previous;
      if (!touch_kept(at)) break;
      const AccessIndex place = access_of(at);
      if (kept(place) && (*this)[place].token == recent.token) search.look_at(place);
    }
    if (search.best()) return;
  }
}

void History::look_along_contexts(Search& search) const {
  const std::uint32_t latest = latest_[bucket()];
  if (latest == 0) return;
  std::uint64_t back = static_cast<std::uint32_t>(static_cast<std::uint32_t>(head_) - latest);
  for (std::uint32_t i = 0; i < kPlaces && !search.tired(); ++i) {
    if (back == 0 || back >= head_ || !kept(head_ - 1 - back)) return;
    const AccessIndex place = head_ - 1 - back;
    search.look_at(place);
    if ((*this)[place].behind == 0) return;
    back += (*this)[place].behind;
  }
}

std::uint64_t History::agreeing(AccessIndex old, AccessIndex recent) const {
  std::uint64_t count = 0;
  for (; count < kMostAgreeing && count <= old && kept(old - count); ++count) {
    if ((*this)[old - count].token != (*this)[recent - count].token) break;
    if (count < kContext && !alike(old - count, recent - count)) break;
  }
  return count;
}

bool History::alike(AccessIndex old, AccessIndex recent) const {
  const RecordedAccess& a = (*this)[old];
  const RecordedAccess& b = (*this)[recent];
  if (a.touches != b.touches) return false;
  const std::uint32_t stride = std::max(1u, a.touches / kSlots);
  std::uint32_t compared = 0, different = 0;
  for (std::uint32_t slot = 0; slot < a.touches; slot += stride, ++compared) {
    const RecordedTouch& was = touch(a.first + slot);
    const Identity is = touch(b.first + slot).identity;
    if (was.identity == is || a.created - was.identity == b.created - is) continue;
    if (alive(was.extent, was.identity)) ++different;
  }
  return different * 4 < compared || different == 0;
}

std::uint64_t History::most_live(AccessIndex first, AccessIndex last) const {
  std::uint32_t most = 0;
  for (AccessIndex i = first + 1; i <= last;) {
    if (i % kLiveBlock == 0 && i + kLiveBlock <= last) {
      most = std::max(most, most_live_[i % kAccesses / kLiveBlock]);
      i += kLiveBlock;
    } else {
      most = std::max(most, (*this)[i++].live);
    }
  }
  return most * kLiveUnit;
}

}  // namespace tencache::policy
