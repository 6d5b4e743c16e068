// A register whose every use follows its definition in the same straight run of instructions, with no place
// where a group can be put aside between, is needed by the lanes that wrote it alone. Such a write may ignore
// the mask, and so keep base and stride in divergent code.
#include <algorithm>

#include "tools/softgpu/engine/decoder.hpp"
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

}  // namespace

bool ends_segment(const Instruction& in) {
  using namespace handlers;
  const Handler h = in.handler == guard ? in.guarded : in.handler;
  const Handler parks[] = {join,        branch, branch_indexed, handlers::exit, trap,
                           pause,       call,   call_indirect,  call_return,    shuffle,
                           vote,        match,  reduce,         warp_barrier,   barrier,
                           active_mask, print,  assert_fail,    allocate,       release};
  return std::ranges::find(parks, h) != std::end(parks);
}

void mark_whole_writes(Code& code) {
  std::vector<Run> runs(code.slots.size());
  std::uint32_t segment = 0;
  for (const Instruction& in : code.instructions) {
    const auto read = [&](SlotId s) {
      if (s != kNoSlot) note(runs[s], segment, false);
    };
    for (const SlotId s : {in.a, in.b, in.c, in.guard}) read(s);
    for (std::size_t k = 0; k < in.elements.size(); ++k) {
      if ((in.defines >> k & 1) == 0) read(in.elements[k]);
    }
    if (ends_segment(in)) ++segment;
    const bool plain = in.handler != handlers::guard;
    if (in.d != kNoSlot) note(runs[in.d], segment, plain);
    for (std::size_t k = 0; k < in.elements.size(); ++k) {
      if ((in.defines >> k & 1) != 0 && in.elements[k] != kNoSlot) note(runs[in.elements[k]], segment, plain);
    }
  }
  const auto alone = [&](SlotId s) {
    return s == kNoSlot || (runs[s].segment < kSeveral && runs[s].written_first);
  };
  for (Instruction& in : code.instructions) {
    in.whole = in.handler != handlers::guard && alone(in.d);
    for (std::size_t k = 0; k < in.elements.size(); ++k) {
      if ((in.defines >> k & 1) != 0 && !alone(in.elements[k])) in.whole = false;
    }
  }
  for (SlotId s = 0; s < code.slots.size(); ++s) {
    const Slot& slot = code.slots[s];
    const auto special = static_cast<Special>(slot.index);
    const bool place =
        special == Special::kCtaidX || special == Special::kCtaidY || special == Special::kCtaidZ;
    if (slot.kind == SlotKind::kRegister && runs[s].segment != kNever && !alone(s)) code.cleared.push_back(s);
    if (slot.kind == SlotKind::kLocal) code.framed.push_back(s);
    if (slot.kind == SlotKind::kSpecial && place) code.placed.push_back(s);
  }
}

}  // namespace softgpu::engine
