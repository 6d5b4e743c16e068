#include "policy/replay_cursor.hpp"

#include <bit>

namespace tencache::policy {

ReplayCursor::Step ReplayCursor::observe() {
  const AccessIndex recent = history_.head() - 1;
  if (following_ && !history_.kept(expected_)) following_ = false;
  if (following_) {
    if (const auto offset = find_in_window(recent)) {
      const AccessIndex matched = expected_ + *offset;
      take(*offset);
      return {Step::Kind::kMatched, matched};
    }
  }
  const auto place = history_.find_again();
  if (place) {
    following_ = true;
    expected_ = place->access + 1;
    taken_ = 0;
    strange_ = 0;
    agreed_ = place->agreeing;
    return {Step::Kind::kJumped, place->access};
  }
  if (!following_) return {Step::Kind::kNothing, 0};
  agreed_ /= 2;
  if (++strange_ <= kStrange) return {Step::Kind::kNothing, 0};
  following_ = false;
  return {Step::Kind::kLost, 0};
}

std::optional<std::uint32_t> ReplayCursor::find_in_window(AccessIndex recent) const {
  const std::uint64_t token = history_[recent].token;
  for (std::uint32_t offset = 0; offset < kWindow && expected_ + offset < recent; ++offset) {
    if ((taken_ >> offset & 1) != 0 || history_[expected_ + offset].token != token) continue;
    if (history_.alike(expected_ + offset, recent)) return offset;
  }
  return std::nullopt;
}

void ReplayCursor::take(std::uint32_t offset) {
  taken_ |= std::uint64_t{1} << offset;
  pass_taken();
  ++agreed_;
  strange_ = 0;
}

std::optional<AccessIndex> ReplayCursor::skipped() {
  if (!following_ || taken_ >> (kWindow / 2) == 0) return std::nullopt;
  const AccessIndex given_up = expected_;
  taken_ >>= 1;
  ++expected_;
  pass_taken();
  return given_up;
}

void ReplayCursor::pass_taken() {
  const int done = std::countr_one(taken_);
  expected_ += static_cast<std::uint32_t>(done);
  taken_ >>= done;
}

}  // namespace tencache::policy
