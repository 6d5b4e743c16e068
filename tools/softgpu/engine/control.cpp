// Branches, joins, exits, clocks.
#include "tools/softgpu/engine/handlers.hpp"
#include "tools/softgpu/engine/state.hpp"

#include <ctime>

namespace softgpu::engine::handlers {
namespace {

// A backward branch costs budget, so that who spins lets others run.
const Instruction* jump(Pack& pack, const Instruction& i, std::uint32_t target) {
  if (target <= index_of(pack, i) && --current_group(pack).budget == 0) {
    Group& group = current_group(pack);
    group.rested = true;
    group.at = target;
    return nullptr;
  }
  return pack.code + target;
}
// Splits `lanes` off the current group; they go on at `target`, the rest at `rest`.
void split(Pack& pack, const Mask& lanes, std::uint32_t target, std::uint32_t rest) {
  Group other = current_group(pack);
  other.mask = lanes;
  other.at = target;
  Group& group = current_group(pack);
  group.mask = without(group.mask, lanes);
  group.at = rest;
  pack.groups.push_back(other);
}

}  // namespace

const Instruction* join(Pack& pack, const Instruction& i) {
  return pack.groups.size() == 1 ? &i + 1 : put_aside(pack, i);
}

const Instruction* branch(Pack& pack, const Instruction& i) {
  if (i.guard == kNoSlot) return jump(pack, i, i.target);
  const Mask& predicate = reg(pack, i.guard).predicate;
  const Mask taken = i.guard_negated ? without(pack.mask, predicate) : pack.mask & predicate;
  if (taken.empty()) return &i + 1;
  if (taken == pack.mask) return jump(pack, i, i.target);
  const bool backward = i.target <= index_of(pack, i);
  split(pack, taken, i.target, index_of(pack, i) + 1);
  Group& away = pack.groups.back();
  if (backward && --away.budget == 0) away.rested = true;
  return nullptr;
}

// brx.idx: a is the index into the table.
const Instruction* branch_indexed(Pack& pack, const Instruction& i) {
  const auto* values = static_cast<const std::uint32_t*>(vector_of(pack, reg(pack, i.a)));
  const auto& targets = pack.frame->code->tables[i.extra].targets;
  int first = -1;
  for_each_lane(pack.mask, [&](int lane) { first = first < 0 ? lane : first; });
  const std::uint32_t index = values[first];
  if (index >= targets.size())
    return fail(pack, i, OutcomeKind::kLaunchFailed, "brx.idx: the index is outside the table");
  Mask same;
  for_each_lane(pack.mask, [&](int lane) {
    if (values[lane] == index) same.add(lane);
  });
  if (same == pack.mask) return jump(pack, i, targets[index]);
  split(pack, same, targets[index], index_of(pack, i));
  return nullptr;
}

const Instruction* exit(Pack& pack, const Instruction& i) {
  (void)i;
  end_lanes(pack, pack.mask);
  pack.groups.erase(pack.groups.begin() + static_cast<std::ptrdiff_t>(pack.current));
  recheck_barriers(*pack.block);
  return nullptr;
}

const Instruction* trap(Pack& pack, const Instruction& i) {
  return fail(pack, i, OutcomeKind::kTrap, "trap instruction");
}
const Instruction* nothing(Pack&, const Instruction& i) { return &i + 1; }

const Instruction* pause(Pack& pack, const Instruction& i) {
  current_group(pack).rested = true;
  current_group(pack).at = index_of(pack, i) + 1;
  return nullptr;
}

// code: 0 clock (a count of instructions), 1 globaltimer; d's width chooses, flag: the upper half.
const Instruction* clock(Pack& pack, const Instruction& i) {
  const Launch& launch = *pack.block->kernel->launch;
  std::uint64_t now = pack.worker->outcome.lane_instructions / kWarpLanes;
  if (i.code == 1) {
    timespec t{};
    if (launch.globaltimer == nullptr) clock_gettime(CLOCK_MONOTONIC, &t);
    now = launch.globaltimer != nullptr
              ? launch.globaltimer(launch.globaltimer_context)
              : static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
  }
  if (i.flag) now >>= 32;
  Register& d = reg(pack, i.d);
  for (int l = 0; l < kLanes; ++l) {
    std::memcpy(static_cast<char*>(target_of(pack, i, d)) + static_cast<std::size_t>(l) * d.width, &now,
                d.width);
  }
  commit(pack, i, d);
  return &i + 1;
}

// isspacep: the window of a generic address; code: the Window asked for.
const Instruction* space_test(Pack& pack, const Instruction& i) {
  const auto* addresses = static_cast<const std::uint64_t*>(vector_of(pack, reg(pack, i.a)));
  Mask result;
  for_each_lane(pack.mask, [&](int lane) {
    const std::uint64_t tag = addresses[lane] & kWindowMask;
    const auto asked = static_cast<Window>(i.code);
    const bool is = asked == Window::kShared  ? tag == kSharedWindow
                    : asked == Window::kLocal ? tag == kLocalWindow
                    : asked == Window::kParam ? tag == kParamWindow
                                              : tag == 0;
    if (is) result.add(lane);
  });
  write_predicate(pack, i, reg(pack, i.d), result);
  return &i + 1;
}

}  // namespace softgpu::engine::handlers
