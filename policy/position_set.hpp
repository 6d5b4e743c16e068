// A set of positions in [0, size) that answers 'the next one from here' and 'the last one before here' in
// constant time: a bit each, and a summary bit for every 64. Used by the simulator's memory to find the
// nearest missing and the farthest clean tensor. Thread rule: one caller at a time. Failure rule: none.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace tencache::policy {

class PositionSet {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  explicit PositionSet(std::uint32_t size) {
    for (std::uint32_t bits = size;; bits = (bits + 63) / 64) {
      levels_.emplace_back((bits + 63) / 64, 0);
      if (bits <= 64) break;
    }
  }

  void insert(std::uint32_t position) {
    for (auto& level : levels_) {
      const std::uint64_t before = level[position / 64];
      level[position / 64] |= std::uint64_t{1} << (position % 64);
      if (before != 0) return;
      position /= 64;
    }
  }

  void erase(std::uint32_t position) {
    for (auto& level : levels_) {
      level[position / 64] &= ~(std::uint64_t{1} << (position % 64));
      if (level[position / 64] != 0) return;
      position /= 64;
    }
  }

  [[nodiscard]] bool contains(std::uint32_t position) const {
    return (levels_[0][position / 64] >> (position % 64) & 1) != 0;
  }

  // The smallest member >= `from`, else kNone.
  [[nodiscard]] std::uint32_t next(std::uint32_t from) const {
    for (std::size_t level = 0; level < levels_.size(); ++level, from = from / 64 + 1) {
      if (from / 64 >= levels_[level].size()) return kNone;
      const std::uint64_t word = levels_[level][from / 64] & (~std::uint64_t{0} << (from % 64));
      if (word != 0) return descend_first(level, from / 64 * 64 + std::countr_zero(word));
    }
    return kNone;
  }

  // The largest member < `before`, else kNone.
  [[nodiscard]] std::uint32_t previous(std::uint32_t before) const {
    for (std::size_t level = 0; level < levels_.size(); ++level, before /= 64) {
      if (before == 0) return kNone;
      const std::uint32_t last = before - 1;
      const std::uint64_t word = levels_[level][last / 64] & (~std::uint64_t{0} >> (63 - last % 64));
      if (word != 0) return descend_last(level, last / 64 * 64 + 63 - std::countl_zero(word));
      before = last / 64 * 64;
    }
    return kNone;
  }

 private:
  [[nodiscard]] std::uint32_t descend_first(std::size_t level, std::uint32_t position) const {
    while (level-- > 0) position = position * 64 + std::countr_zero(levels_[level][position]);
    return position;
  }
  [[nodiscard]] std::uint32_t descend_last(std::size_t level, std::uint32_t position) const {
    while (level-- > 0) position = position * 64 + 63 - std::countl_zero(levels_[level][position]);
    return position;
  }

  std::vector<std::vector<std::uint64_t>> levels_;
};

}  // namespace tencache::policy
