// A register whose every use follows its definition in the same straight run of instructions, with no place
// where a group can be put aside between, is needed by the lanes that wrote it alone. Such a write may ignore
// the mask, and so keep base and stride in divergent code.
#include "tools/softgpu/engine/segments.hpp"

#include <algorithm>

#include "tools/softgpu/engine/handlers.hpp"

namespace softgpu::engine {
namespace {

constexpr std::uint32_t kNever = 0xffffffffu, kSeveral = 0xfffffffeu;

struct Run {
  std::uint32_t segment = kNever;
  bool written_first = false;
};
void note(Run& run, std::uint32_t segment, bool writes) {
  if (run.segment == kNever) {
    run = {segment, writes};
  } else if (run.segment != segment) {
    run.segment = kSeveral;
  }
}
// Where a group may wait and then do the instruction again: others run between.
bool may_repeat(const Instruction& in) {
  using namespace handlers;
  static constexpr Handler kRepeats[] = {branch_indexed, call_indirect, shuffle,      vote,
                                         match,          reduce,        warp_barrier, barrier};
  return std::ranges::find(kRepeats, in.handler) != std::end(kRepeats);
}
// What an instruction that ends a segment writes belongs to the next one, and so does what it may read again.
std::vector<Run> runs_of(const Code& code) {
  std::vector<Run> runs(code.slots.size());
  std::uint32_t segment = 0;
  for (const Instruction& in : code.instructions) {
    const bool plain = in.handler != handlers::guard;
    const std::uint32_t next = segment + (ends_segment(in) ? 1 : 0);
    const bool repeats = may_repeat(in);
    for_each_slot(in, [&](SlotId s, bool written) {
      if (!written) note(runs[s], segment, false);
      if (written || repeats) note(runs[s], next, written && plain);
    });
    segment = next;
  }
  return runs;
}
void note_what_is_set(Code& code, const std::vector<Run>& runs, const std::vector<bool>& alone) {
  for (SlotId s = 0; s < code.slots.size(); ++s) {
    const Slot& slot = code.slots[s];
    const auto special = static_cast<Special>(slot.index);
    const bool place =
        special == Special::kCtaidX || special == Special::kCtaidY || special == Special::kCtaidZ;
    if (slot.kind == SlotKind::kRegister && runs[s].segment != kNever && !alone[s]) code.cleared.push_back(s);
    if (slot.kind == SlotKind::kLocal) code.framed.push_back(s);
    if (slot.kind == SlotKind::kSpecial && place) code.placed.push_back(s);
  }
}

}  // namespace

bool ends_segment(const Instruction& in) {
  using namespace handlers;
  const Handler h = in.handler == guard ? in.guarded : in.handler;
  static constexpr Handler kParks[] = {join,        branch, branch_indexed, handlers::exit, trap,
                                       pause,       call,   call_indirect,  call_return,    shuffle,
                                       vote,        match,  reduce,         warp_barrier,   barrier,
                                       active_mask, print,  assert_fail,    allocate,       release};
  return std::ranges::find(kParks, h) != std::end(kParks);
}
bool is_branch(const Instruction& in) { return in.handler == handlers::branch; }

std::vector<bool> mark_whole_writes(Code& code) {
  const std::vector<Run> runs = runs_of(code);
  std::vector<bool> alone(code.slots.size());
  for (SlotId s = 0; s < code.slots.size(); ++s)
    alone[s] = runs[s].segment < kSeveral && runs[s].written_first;
  for (Instruction& in : code.instructions) {
    in.whole = in.handler != handlers::guard;
    for_each_slot(in, [&](SlotId s, bool written) { in.whole = in.whole && (!written || alone[s]); });
  }
  note_what_is_set(code, runs, alone);
  return alone;
}

}  // namespace softgpu::engine
