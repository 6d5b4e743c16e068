#include "tests/softgpu/ops/warp_operations.hpp"

#include <bit>

namespace softgpu::ops {
namespace {

using Word = std::uint64_t;

void add(std::vector<WarpOperation>& to, const std::string& name, const std::string& text,
         const std::string& result, std::vector<std::string> sources, WarpReference reference,
         std::function<Tuple(std::mt19937_64&, unsigned)> operands = nullptr) {
  to.push_back(
      {{name, text, result, std::move(sources), nullptr}, std::move(reference), std::move(operands)});
}

bool is_active(std::uint32_t active, unsigned lane) { return (active >> lane & 1) != 0; }

struct Source {
  unsigned lane;
  bool inside;
};
// From PTX's description of shfl: c holds the clamp in bits 0 to 4 and the segment mask in bits 8 to 12.
Source source_of(char mode, unsigned lane, Word b, Word c) {
  const int by = static_cast<int>(b & 31), clamp = static_cast<int>(c & 31),
            segment = static_cast<int>(c >> 8 & 31);
  const int self = static_cast<int>(lane);
  const int first = self & segment, last = first | (clamp & ~segment);
  const int from = mode == 'u'   ? self - by
                   : mode == 'd' ? self + by
                   : mode == 'b' ? self ^ by
                                 : first | (by & ~segment);
  const bool inside = mode == 'u' ? from >= last : from <= last;
  return {inside ? static_cast<unsigned>(from) : lane, inside};
}

// Distances and segments as __shfl_sync makes them, or any.
Tuple shuffle_operands(std::mt19937_64& random, unsigned thread, char mode) {
  static constexpr Word kSegments[] = {0, 0x10, 0x18, 0x1c, 0x1e};
  // All lanes of a warp in the same way.
  std::mt19937 of_warp(thread / 32);
  const Word segment = kSegments[of_warp() % 5] << 8;
  const Word clamp = of_warp() % 3 == 0 ? of_warp() % 32 : mode == 'u' ? 0 : 31;
  const Word by = of_warp() % 2 == 0 ? of_warp() % 33 : random();
  return {random() & 0xffffffff, by & 0xffffffff, segment | clamp, 0};
}

void add_shuffle(std::vector<WarpOperation>& to, const std::string& mode) {
  const char kind = mode.front();
  const auto operands = [kind](std::mt19937_64& random, unsigned thread) {
    return shuffle_operands(random, thread, kind);
  };
  const std::string name = "shfl.sync." + mode + ".b32";
  // A lane that is not there gives no defined value: then only the predicate is compared.
  add(
      to, name, "{ .reg .pred inside; " + name + " $d|inside, $a, $b, $c, $m; }", "b32",
      {"b32", "b32", "b32"},
      [kind](const Warp& warp, std::uint32_t, unsigned lane) {
        return warp[source_of(kind, lane, warp[lane][1], warp[lane][2]).lane][0];
      },
      operands);
  add(
      to, name + " predicate", "{ .reg .b32 moved; " + name + " moved|$d, $a, $b, $c, $m; }", "pred",
      {"b32", "b32", "b32"},
      [kind](const Warp& warp, std::uint32_t, unsigned lane) {
        return Word{source_of(kind, lane, warp[lane][1], warp[lane][2]).inside};
      },
      operands);
}

Word ballot(const Warp& warp, std::uint32_t active, bool wanted) {
  Word bits = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    bits |= Word{is_active(active, lane) && (warp[lane][0] != 0) == wanted} << lane;
  return bits;
}

// Predicates that agree in some warps and not in others.
Tuple vote_operands(std::mt19937_64& random, unsigned thread) {
  const unsigned kind = thread / 32 % 4;
  return {kind == 0 ? 0 : kind == 1 ? 1 : kind == 2 ? Word{thread % 32 == 7} : random() & 1, 0, 0, 0};
}
// Few different values, so that some match; in some warps all.
Tuple match_operands(std::mt19937_64& random, unsigned thread) {
  const Word values[] = {0, 1, 0xffffffff, 0x100000001};
  return {thread / 32 % 3 == 0 ? values[thread / 32 % 4] : values[random() % 4], 0, 0, 0};
}

void add_matches(std::vector<WarpOperation>& to, const std::string& type) {
  const Word mask = type == "b32" ? 0xffffffff : ~Word{0};
  const auto equals = [mask](const Warp& warp, std::uint32_t active, unsigned lane) {
    Word bits = 0;
    for (unsigned other = 0; other < 32; ++other) {
      bits |= Word{is_active(active, other) && ((warp[other][0] ^ warp[lane][0]) & mask) == 0} << other;
    }
    return bits;
  };
  add(to, "match.any.sync." + type, "match.any.sync." + type + " $d, $a, $m;", "b32", {type}, equals,
      match_operands);
  add(
      to, "match.all.sync." + type, "{ .reg .pred all; match.all.sync." + type + " $d|all, $a, $m; }", "b32",
      {type},
      [equals](const Warp& warp, std::uint32_t active, unsigned lane) {
        return equals(warp, active, lane) == active ? Word{active} : 0;
      },
      match_operands);
  add(
      to, "match.all.sync." + type + " predicate",
      "{ .reg .b32 mask; match.all.sync." + type + " mask|$d, $a, $m; }", "pred", {type},
      [equals](const Warp& warp, std::uint32_t active, unsigned lane) {
        return Word{equals(warp, active, lane) == active};
      },
      match_operands);
}

using Combine = Word (*)(Word a, Word b);

void add_reduction(std::vector<WarpOperation>& to, const std::string& suffix, Combine combine) {
  add(to, "redux.sync." + suffix, "redux.sync." + suffix + " $d, $a, $m;", "b32", {"b32"},
      [combine](const Warp& warp, std::uint32_t active, unsigned) {
        Word result = warp[static_cast<unsigned>(std::countr_zero(active))][0];
        for (unsigned lane = 0; lane < 32; ++lane) {
          // The first one twice changes neither of these; sums and xor begin behind it.
          if (is_active(active, lane) && lane != static_cast<unsigned>(std::countr_zero(active))) {
            result = combine(result, warp[lane][0]) & 0xffffffff;
          }
        }
        return result;
      });
}

std::int32_t as_signed(Word value) { return static_cast<std::int32_t>(value); }

}  // namespace

std::vector<WarpOperation> shuffle_operations() {
  std::vector<WarpOperation> to;
  for (const char* mode : {"up", "down", "bfly", "idx"}) add_shuffle(to, mode);
  return to;
}

std::vector<WarpOperation> vote_operations() {
  std::vector<WarpOperation> to;
  add(
      to, "vote.sync.ballot.b32", "vote.sync.ballot.b32 $d, $a, $m;", "b32", {"pred"},
      [](const Warp& warp, std::uint32_t active, unsigned) { return ballot(warp, active, true); },
      vote_operands);
  add(
      to, "vote.ballot.sync.b32", "vote.ballot.sync.b32 $d, $a, $m;", "b32", {"pred"},
      [](const Warp& warp, std::uint32_t active, unsigned) { return ballot(warp, active, true); },
      vote_operands);
  add(
      to, "vote.sync.ballot.b32 !", "vote.sync.ballot.b32 $d, !$a, $m;", "b32", {"pred"},
      [](const Warp& warp, std::uint32_t active, unsigned) { return ballot(warp, active, false); },
      vote_operands);
  add(
      to, "vote.sync.all.pred", "vote.sync.all.pred $d, $a, $m;", "pred", {"pred"},
      [](const Warp& warp, std::uint32_t active, unsigned) { return Word{ballot(warp, active, false) == 0}; },
      vote_operands);
  add(
      to, "vote.sync.any.pred", "vote.sync.any.pred $d, $a, $m;", "pred", {"pred"},
      [](const Warp& warp, std::uint32_t active, unsigned) { return Word{ballot(warp, active, true) != 0}; },
      vote_operands);
  add(
      to, "vote.sync.any.pred !", "vote.sync.any.pred $d, !$a, $m;", "pred", {"pred"},
      [](const Warp& warp, std::uint32_t active, unsigned) { return Word{ballot(warp, active, false) != 0}; },
      vote_operands);
  add(
      to, "vote.sync.uni.pred", "vote.sync.uni.pred $d, $a, $m;", "pred", {"pred"},
      [](const Warp& warp, std::uint32_t active, unsigned) {
        return Word{ballot(warp, active, false) == 0 || ballot(warp, active, true) == 0};
      },
      vote_operands);
  add(to, "activemask.b32", "{ .reg .b32 unused; activemask.b32 $d; mov.b32 unused, $a; }", "b32", {"b32"},
      [](const Warp&, std::uint32_t active, unsigned) { return Word{active}; });
  for (const char* type : {"b32", "b64"}) add_matches(to, type);
  add_reduction(to, "add.s32", [](Word a, Word b) { return a + b; });
  add_reduction(to, "add.u32", [](Word a, Word b) { return a + b; });
  add_reduction(to, "min.u32", [](Word a, Word b) { return a < b ? a : b; });
  add_reduction(to, "max.u32", [](Word a, Word b) { return a > b ? a : b; });
  add_reduction(to, "min.s32", [](Word a, Word b) { return as_signed(a) < as_signed(b) ? a : b; });
  add_reduction(to, "max.s32", [](Word a, Word b) { return as_signed(a) > as_signed(b) ? a : b; });
  add_reduction(to, "and.b32", [](Word a, Word b) { return a & b; });
  add_reduction(to, "or.b32", [](Word a, Word b) { return a | b; });
  add_reduction(to, "xor.b32", [](Word a, Word b) { return a ^ b; });
  return to;
}

}  // namespace softgpu::ops
