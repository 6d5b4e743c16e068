// Which slots an instruction reads and writes, and what follows from where it stands. Used after decoding.
// Thread rule: none. Failure rule: none.
#pragma once

#include <vector>

#include "tools/softgpu/engine/code.hpp"

namespace softgpu::engine {

// Can the handler put the group aside, or is it a place where groups meet?
bool ends_segment(const Instruction& instruction);
bool is_branch(const Instruction& instruction);

// Calls f(slot, is_written): all that is read first.
template <class F>
void for_each_slot(const Instruction& in, F f) {
  for (const SlotId s : {in.a, in.b, in.c, in.guard}) {
    if (s != kNoSlot) f(s, false);
  }
  for (const bool written : {false, true}) {
    for (std::size_t k = 0; k < in.elements.size(); ++k) {
      if (in.elements[k] != kNoSlot && ((in.defines >> k & 1) != 0) == written) f(in.elements[k], written);
    }
  }
  if (in.d != kNoSlot) f(in.d, true);
}
inline void rename_slots(Instruction& in, const std::vector<SlotId>& renamed) {
  for (SlotId* s : {&in.a, &in.b, &in.c, &in.d, &in.guard}) {
    if (*s != kNoSlot) *s = renamed[*s];
  }
  for (SlotId& s : in.elements) {
    if (s != kNoSlot) s = renamed[s];
  }
}

// Marks the writes that need not keep other lanes' values; returns the registers that live in one segment.
std::vector<bool> mark_whole_writes(Code& code);
// registers.cpp
void share_slots(Code& code, const std::vector<bool>& alone);
void count_registers(Code& code);
// liveness.cpp
void find_liveness(Code& code);

}  // namespace softgpu::engine
