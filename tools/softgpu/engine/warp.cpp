// What the lanes of a warp do together. Lanes named by the member mask must be at the instruction together,
// or at any bar.warp.sync; those that came early wait there.
#include "tools/softgpu/engine/warp.hpp"

#include "tools/softgpu/engine/handlers.hpp"
#include "tools/softgpu/engine/state.hpp"

namespace softgpu::engine::handlers {
namespace {

void absorb_waiting(Pack& pack, const Instruction& i, Waits waits) {
  const std::uint32_t at = index_of(pack, i);
  for (std::size_t g = pack.groups.size(); g-- > 0;) {
    const Group& other = pack.groups[g];
    if (other.waits != waits || other.at != at || other.frame != pack.frame) continue;
    const Mask all = pack.mask | other.mask;
    pack.groups.erase(pack.groups.begin() + static_cast<std::ptrdiff_t>(g));
    if (g < pack.current) --pack.current;
    current_group(pack).mask = all;
    narrow_to(pack, all);
  }
}
struct Arrival {
  Mask missing;   // the lanes here of warps in which a named lane is still missing
  Mask complete;  // the lanes that wait elsewhere of the other warps, where they are named
};
Arrival arrival(Pack& pack, const std::uint32_t* members, const Mask& elsewhere) {
  Arrival found;
  for (int w = 0; w < kWarps; ++w) {
    const std::uint32_t here = pack.mask.warp(w);
    std::uint32_t named = 0;
    for (std::uint32_t left = here; left != 0; left &= left - 1) {
      named |= members[w * kWarpLanes + __builtin_ctz(left)];
    }
    if ((named & pack.live.warp(w) & ~here & ~elsewhere.warp(w)) != 0)
      found.missing.set_warp(w, here);
    else
      found.complete.set_warp(w, named & elsewhere.warp(w));
  }
  return found;
}
// The lanes that miss others wait here. False: that is the whole current group.
bool leave_waiting(Pack& pack, const Instruction& i, const Mask& missing, Waits waits) {
  if (missing.empty()) return true;
  Group waiting = current_group(pack);
  waiting.at = index_of(pack, i);
  waiting.waits = waits;
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
// False: the current group has been put aside.
bool assemble(Pack& pack, const Instruction& i, SlotId slot) {
  if (pack.mask == pack.live) return true;
  absorb_waiting(pack, i, Waits::kWarp);
  return leave_waiting(pack, i, arrival(pack, words(pack, slot), {}).missing, Waits::kWarp);
}

Mask waiting_at_warp_barriers(const Pack& pack) {
  Mask waiting;
  for (const Group& group : pack.groups)
    if (group.waits == Waits::kWarpBarrier) waiting = waiting | group.mask;
  return waiting;
}
void release_from_warp_barriers(Pack& pack, const Mask& lanes) {
  for (std::size_t g = 0, count = pack.groups.size(); g < count; ++g) {
    const Mask released = pack.groups[g].mask & lanes;
    if (pack.groups[g].waits != Waits::kWarpBarrier || released.empty()) continue;
    Group group = pack.groups[g];
    group.mask = without(group.mask, released);
    if (!group.mask.empty()) pack.groups.push_back(group);
    pack.groups[g].mask = released;
    pack.groups[g].waits = Waits::kNo;
    pack.groups[g].released = true;
  }
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

// Lanes may stand at different ones: __syncwarp() in both branches of an if is one meeting.
const Instruction* warp_barrier(Pack& pack, const Instruction& i) {
  if (current_group(pack).released) {
    current_group(pack).released = false;
    return &i + 1;
  }
  if (pack.mask == pack.live) return &i + 1;
  absorb_waiting(pack, i, Waits::kWarpBarrier);
  const Arrival arrived = arrival(pack, words(pack, i.a), waiting_at_warp_barriers(pack));
  release_from_warp_barriers(pack, arrived.complete);
  return leave_waiting(pack, i, arrived.missing, Waits::kWarpBarrier) ? &i + 1 : nullptr;
}

}  // namespace softgpu::engine::handlers
