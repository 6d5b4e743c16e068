#include "policy/history.hpp"

#include <algorithm>

namespace tencache::policy {
namespace {

constexpr std::uint64_t kLiveBlock = 64;
constexpr std::size_t kContexts = std::size_t{1} << 17;
constexpr std::uint32_t kPlaces = 64;           // looked at in one search
constexpr std::uint64_t kMostAgreeing = 4096;   // accesses that one place is compared over
constexpr std::uint64_t kMostCompared = 16384;  // and all of them
constexpr std::uint32_t kSlots = 8;             // of an access that are compared
constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15u;

constexpr std::uint64_t power(std::uint64_t base, std::uint32_t exponent) {
  std::uint64_t result = 1;
  for (; exponent > 0; --exponent) result *= base;
  return result;
}

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

AccessIndex History::append(std::uint64_t token, std::size_t touches, Identity created, Bytes live,
                            Nanoseconds time) {
  const std::uint64_t leaving = head_ >= kContext ? (*this)[head_ - kContext].token : 0;
  context_ = context_ * kBase + token - leaving * power(kBase, kContext);
  const bool fits = touches <= kTouches / 4;
  accesses_[head_ % kAccesses] = {token,   touch_head_,  fits ? static_cast<std::uint32_t>(touches) : 0,
                                  created, live.count(), time.count(),
                                  0};
  std::uint64_t& most = most_live_[head_ % kAccesses / kLiveBlock];
  most = head_ % kLiveBlock == 0 ? live.count() : std::max(most, live.count());
  return head_++;
}

TouchIndex History::add_touch(ExtentIndex extent, Identity identity, TouchIndex previous) {
  if (previous != kNoTouch && touch_kept(previous)) {
    touch(previous).to_next = static_cast<std::uint32_t>(touch_head_ - previous);
  }
  touch(touch_head_) = {extent, identity, 0, static_cast<std::uint32_t>(head_ - 1), kNoExtent};
  return touch_head_++;
}

std::size_t History::bucket() const { return (context_ ^ (context_ >> 32)) % kContexts; }

void History::enter() {
  std::uint32_t& latest = latest_[bucket()];
  const auto now = static_cast<std::uint32_t>(head_);
  accesses_[(head_ - 1) % kAccesses].behind = latest == 0 ? 0 : now - latest;
  latest = now;
}

std::optional<History::Place> History::find_again() const {
  const std::uint32_t latest = latest_[bucket()];
  if (latest == 0 || head_ < kContext) return std::nullopt;
  std::optional<Place> best;
  std::uint64_t back = static_cast<std::uint32_t>(static_cast<std::uint32_t>(head_) - latest);
  std::uint64_t compared = 0;
  for (std::uint32_t i = 0; i < kPlaces && compared < kMostCompared; ++i) {
    if (back == 0 || back >= head_ || !kept(head_ - 1 - back)) break;
    const AccessIndex place = head_ - 1 - back;
    const std::uint64_t agreeing = this->agreeing(place, head_ - 1);
    compared += agreeing;
    if (agreeing >= kContext && (!best || agreeing >= best->agreeing)) best = {place, agreeing};
    if ((*this)[place].behind == 0) break;
    back += (*this)[place].behind;
  }
  return best;
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
  std::uint64_t most = 0;
  for (AccessIndex i = first + 1; i <= last;) {
    if (i % kLiveBlock == 0 && i + kLiveBlock <= last) {
      most = std::max(most, most_live_[i % kAccesses / kLiveBlock]);
      i += kLiveBlock;
    } else {
      most = std::max(most, (*this)[i++].live);
    }
  }
  return most;
}

}  // namespace tencache::policy
