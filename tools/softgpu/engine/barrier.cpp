// bar and barrier: counted in lanes; lanes that have ended count as arrived.
#include "tools/softgpu/engine/handlers.hpp"
#include "tools/softgpu/engine/state.hpp"

namespace softgpu::engine {
namespace {

void release_waiting(Block& block, std::size_t id) {
  Barrier& barrier = block.barriers[id];
  barrier.result_count = barrier.arrived;
  barrier.result_ones = barrier.ones;
  barrier.arrived = barrier.ones = barrier.expected = 0;
  for (auto& pack : block.packs) {
    for (Group& group : pack->groups) {
      if (group.waits != Waits::kBarrier || group.barrier != id) continue;
      group.waits = Waits::kNo;
      group.released = true;
    }
  }
}
bool is_full(const Block& block, const Barrier& barrier) {
  return barrier.arrived >= (barrier.expected != 0 ? barrier.expected : block.live);
}

}  // namespace

void recheck_barriers(Block& block) {
  for (std::size_t id = 0; id < block.barriers.size(); ++id) {
    const Barrier& barrier = block.barriers[id];
    if (barrier.arrived != 0 && barrier.expected == 0 && is_full(block, barrier)) release_waiting(block, id);
  }
}

namespace handlers {
namespace {

std::uint32_t first_value(Pack& pack, SlotId slot) {
  Register& r = reg(pack, slot);
  int first = -1;
  for_each_lane(pack.mask, [&](int lane) { first = first < 0 ? lane : first; });
  return static_cast<const std::uint32_t*>(vector_of(pack, r))[first];
}
// bar.red's result; code: 0 none, 1 popc, 2 and, 3 or.
void write_result(Pack& pack, const Instruction& i, const Barrier& barrier) {
  if (i.code == 0) return;
  Register& d = reg(pack, i.d);
  if (i.code != 1) {
    const bool on = i.code == 2 ? barrier.result_ones == barrier.result_count : barrier.result_ones != 0;
    return write_predicate(pack, i, d, on ? pack.mask : Mask{});
  }
  auto* lanes = static_cast<std::uint32_t*>(target_of(pack, i, d));
  for (int l = 0; l < kLanes; ++l) lanes[l] = barrier.result_ones;
  commit(pack, i, d);
}
std::uint32_t ones_among(Pack& pack, const Instruction& i) {
  if (i.code == 0) return 0;
  const Mask& predicate = reg(pack, i.c).predicate;
  return static_cast<std::uint32_t>(
      (i.is_signed ? without(pack.mask, predicate) : pack.mask & predicate).count());
}

}  // namespace

// a: the barrier, b: how many threads, c: bar.red's predicate (is_signed: negated); flag: bar.arrive.
const Instruction* barrier(Pack& pack, const Instruction& i) {
  const std::uint32_t id = first_value(pack, i.a) & 15;
  Block& block = *pack.block;
  Barrier& barrier = block.barriers[id];
  Group& group = current_group(pack);
  if (group.released) {
    group.released = false;
    write_result(pack, i, barrier);
    return &i + 1;
  }
  if (i.b != kNoSlot) barrier.expected = first_value(pack, i.b);
  barrier.arrived += pack.lanes;
  barrier.ones += ones_among(pack, i);
  const bool full = is_full(block, barrier);
  if (full) release_waiting(block, id);
  if (full || i.flag) {
    if (!i.flag) write_result(pack, i, barrier);
    return &i + 1;
  }
  group.waits = Waits::kBarrier;
  group.barrier = static_cast<std::uint8_t>(id);
  return put_aside(pack, i);
}

}  // namespace handlers
}  // namespace softgpu::engine
