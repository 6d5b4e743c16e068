// What the lanes of a warp do together. Lanes named by the member mask must be at the instruction together;
// those that came early wait there.
#include "tools/softgpu/engine/warp.hpp"

#include "tools/softgpu/engine/handlers.hpp"
#include "tools/softgpu/engine/state.hpp"

namespace softgpu::engine::handlers {
namespace {

void absorb_waiting(Pack& pack, const Instruction& i) {
  const std::uint32_t at = index_of(pack, i);
  for (std::size_t g = pack.groups.size(); g-- > 0;) {
    const Group& other = pack.groups[g];
    if (other.waits != Waits::kWarp || other.at != at || other.frame != pack.frame) continue;
    const Mask all = pack.mask | other.mask;
    pack.groups.erase(pack.groups.begin() + static_cast<std::ptrdiff_t>(g));
    if (g < pack.current) --pack.current;
    current_group(pack).mask = all;
    narrow_to(pack, all);
  }
}
// The lanes of warps in which a named lane is still missing.
Mask incomplete_lanes(Pack& pack, const std::uint32_t* members) {
  Mask missing;
  for (int w = 0; w < kWarps; ++w) {
    const std::uint32_t here = pack.mask.warp(w);
    std::uint32_t named = 0;
    for (std::uint32_t left = here; left != 0; left &= left - 1) {
      named |= members[w * kWarpLanes + __builtin_ctz(left)];
    }
    if ((named & pack.live.warp(w) & ~here) != 0) missing.set_warp(w, here);
  }
  return missing;
}
// False: the current group has been put aside.
bool assemble(Pack& pack, const Instruction& i, SlotId slot) {
  if (pack.mask == pack.live) return true;
  absorb_waiting(pack, i);
  const Mask missing =
      incomplete_lanes(pack, static_cast<const std::uint32_t*>(vector_of(pack, reg(pack, slot))));
  if (missing.empty()) return true;
  Group waiting = current_group(pack);
  waiting.at = index_of(pack, i);
  waiting.waits = Waits::kWarp;
  waiting.mask = missing;
  const Mask rest = without(pack.mask, missing);
  if (rest.empty()) {
    current_group(pack) = waiting;
    return false;
  }
  current_group(pack).mask = rest;
  narrow_to(pack, rest);
  pack.groups.push_back(waiting);
  note_needed(pack);
  return true;
}
const std::uint32_t* words(Pack& pack, SlotId slot) {
  return static_cast<const std::uint32_t*>(vector_of(pack, reg(pack, slot)));
}

int source_lane(ShuffleMode mode, int lane, std::uint32_t b, std::uint32_t c, bool& inside) {
  const int by = static_cast<int>(b & 31), segment = static_cast<int>(c >> 8 & 31),
            clamp = static_cast<int>(c & 31);
  const int greatest = (lane & segment) | (clamp & ~segment & 31);
  int from = lane;
  switch (mode) {
    case ShuffleMode::kUp:
      from = lane - by;
      inside = from >= greatest;
      break;
    case ShuffleMode::kDown:
      from = lane + by;
      inside = from <= greatest;
      break;
    case ShuffleMode::kButterfly:
      from = lane ^ by;
      inside = from <= greatest;
      break;
    case ShuffleMode::kIndex:
      from = (lane & segment) | (by & ~segment & 31);
      inside = from <= greatest;
      break;
  }
  return inside ? from : lane;
}

std::uint32_t reduced(ReduceOperation operation, std::uint32_t x, std::uint32_t y) {
  switch (operation) {
    case ReduceOperation::kAdd:
      return x + y;
    case ReduceOperation::kMinUnsigned:
      return x < y ? x : y;
    case ReduceOperation::kMaxUnsigned:
      return x < y ? y : x;
    case ReduceOperation::kMinSigned:
      return static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y) ? x : y;
    case ReduceOperation::kMaxSigned:
      return static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y) ? y : x;
    case ReduceOperation::kAnd:
      return x & y;
    case ReduceOperation::kOr:
      return x | y;
    case ReduceOperation::kXor:
      return x ^ y;
  }
  return x;
}

}  // namespace

// d|elements[0] = shuffle of a by b, c; elements[1] the member mask.
const Instruction* shuffle(Pack& pack, const Instruction& i) {
  if (!assemble(pack, i, i.elements[1])) return nullptr;
  const std::uint32_t* a = words(pack, i.a);
  const std::uint32_t* b = words(pack, i.b);
  const std::uint32_t* c = words(pack, i.c);
  auto* moved = reinterpret_cast<std::uint32_t*>(pack.worker->scratch[0]);
  Mask inside_lanes;
  for_each_lane(pack.mask, [&](int lane) {
    bool inside = false;
    const int within = lane % kWarpLanes;
    const int from = source_lane(static_cast<ShuffleMode>(i.code), within, b[lane], c[lane], inside);
    moved[lane] = a[lane - within + from];
    if (inside) inside_lanes.add(lane);
  });
  if (i.d != kNoSlot) {
    Register& d = reg(pack, i.d);
    std::memcpy(target_of(pack, i, d), moved, static_cast<std::size_t>(pack.halves) * kHalfLanes * 4);
    commit(pack, i, d);
  }
  if (i.elements[0] != kNoSlot) write_predicate(pack, i, reg(pack, i.elements[0]), inside_lanes);
  return &i + 1;
}

// d = vote on predicate a (flag: negated); b the member mask.
const Instruction* vote(Pack& pack, const Instruction& i) {
  if (!assemble(pack, i, i.b)) return nullptr;
  const std::uint32_t* members = words(pack, i.b);
  const Mask given = reg(pack, i.a).predicate;
  const Mask yes = i.flag ? without(pack.mask, given) : pack.mask & given;
  auto* ballots = reinterpret_cast<std::uint32_t*>(pack.worker->scratch[0]);
  Mask result;
  for_each_lane(pack.mask, [&](int lane) {
    const std::uint32_t among = members[lane] & pack.mask.warp(lane / kWarpLanes);
    const std::uint32_t ones = yes.warp(lane / kWarpLanes) & among;
    ballots[lane] = ones;
    const auto mode = static_cast<VoteMode>(i.code);
    const bool on = mode == VoteMode::kAll   ? ones == among
                    : mode == VoteMode::kAny ? ones != 0
                                             : ones == among || ones == 0;
    if (on) result.add(lane);
  });
  Register& d = reg(pack, i.d);
  if (static_cast<VoteMode>(i.code) != VoteMode::kBallot) return write_predicate(pack, i, d, result), &i + 1;
  std::memcpy(target_of(pack, i, d), ballots, static_cast<std::size_t>(pack.halves) * kHalfLanes * 4);
  commit(pack, i, d);
  return &i + 1;
}

// d|elements[0] = lanes with the same a; b the member mask; flag: match.all.
const Instruction* match(Pack& pack, const Instruction& i) {
  if (!assemble(pack, i, i.b)) return nullptr;
  const std::uint32_t* members = words(pack, i.b);
  Register& a = reg(pack, i.a);
  const auto* bytes = static_cast<const std::uint8_t*>(vector_of(pack, a));
  auto* found = reinterpret_cast<std::uint32_t*>(pack.worker->scratch[0]);
  Mask all;
  for_each_lane(pack.mask, [&](int lane) {
    const int first = lane - lane % kWarpLanes;
    const std::uint32_t among = members[lane] & pack.mask.warp(lane / kWarpLanes);
    std::uint32_t same = 0;
    for (std::uint32_t left = among; left != 0; left &= left - 1) {
      const int other = __builtin_ctz(left);
      if (std::memcmp(bytes + lane * a.width, bytes + (first + other) * a.width, a.width) == 0)
        same |= 1u << other;
    }
    if (same == among) all.add(lane);
    found[lane] = i.flag && same != among ? 0 : same;
  });
  Register& d = reg(pack, i.d);
  std::memcpy(target_of(pack, i, d), found, static_cast<std::size_t>(pack.halves) * kHalfLanes * 4);
  commit(pack, i, d);
  if (i.elements[0] != kNoSlot) write_predicate(pack, i, reg(pack, i.elements[0]), all);
  return &i + 1;
}

// d = a over the lanes of member mask b.
const Instruction* reduce(Pack& pack, const Instruction& i) {
  if (!assemble(pack, i, i.b)) return nullptr;
  const std::uint32_t* members = words(pack, i.b);
  const std::uint32_t* a = words(pack, i.a);
  auto* sums = reinterpret_cast<std::uint32_t*>(pack.worker->scratch[0]);
  for_each_lane(pack.mask, [&](int lane) {
    const int first = lane - lane % kWarpLanes;
    std::uint32_t left = members[lane] & pack.mask.warp(lane / kWarpLanes);
    std::uint32_t sum = left == 0 ? 0 : a[first + __builtin_ctz(left)];
    for (left &= left - 1; left != 0; left &= left - 1) {
      sum = reduced(static_cast<ReduceOperation>(i.code), sum, a[first + __builtin_ctz(left)]);
    }
    sums[lane] = sum;
  });
  Register& d = reg(pack, i.d);
  std::memcpy(target_of(pack, i, d), sums, static_cast<std::size_t>(pack.halves) * kHalfLanes * 4);
  commit(pack, i, d);
  return &i + 1;
}

const Instruction* active_mask(Pack& pack, const Instruction& i) {
  Register& d = reg(pack, i.d);
  auto* lanes = static_cast<std::uint32_t*>(target_of(pack, i, d));
  for (int l = 0; l < kLanes; ++l) lanes[l] = pack.mask.warp(l / kWarpLanes);
  commit(pack, i, d);
  return &i + 1;
}

const Instruction* warp_barrier(Pack& pack, const Instruction& i) {
  return assemble(pack, i, i.a) ? &i + 1 : nullptr;
}

}  // namespace softgpu::engine::handlers
