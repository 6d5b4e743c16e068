// Which registers an instruction reads and writes, as far as its form tells: the first operand is the
// destination, and what is paired with it, but for the few instructions that have none. Called by the
// analyses. Thread rule: pure. Failure rule: none; the condition code of add.cc and its kin is not a
// register.
#pragma once

#include <vector>

#include "tools/softgpu/ptx/module.hpp"

namespace softgpu::ptx {

struct RegisterRoles {
  std::vector<RegisterId> reads;  // the guard among them
  std::vector<RegisterId> writes;
};

// Replaces what `roles` held: its memory is meant to be used again.
void find_roles(const Instruction& instruction, RegisterRoles& roles);

// Control never goes on behind it: an unguarded bra, brx, ret, exit or trap.
[[nodiscard]] bool ends_flow(const Instruction& instruction);
// bra, brx: has branch targets.
[[nodiscard]] bool is_branch(const Instruction& instruction);

}  // namespace softgpu::ptx
