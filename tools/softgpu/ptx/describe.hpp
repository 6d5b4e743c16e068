// Instructions and operands of the tree as text, with register names: for messages, ptx-parse and tests.
// Thread rule: pure. Failure rule: none.
#pragma once

#include <string>

#include "tools/softgpu/ptx/module.hpp"

namespace softgpu::ptx {

// "%r1", "0f3f800000", "[%rd1+8]", "{%r1, _}", "@12" for a branch target.
[[nodiscard]] std::string describe(const Operand& operand, const Function& function);
// "@!%p1 ld.global.u32 %r1, [%rd1+8]"
[[nodiscard]] std::string describe(const Instruction& instruction, const Function& function);

}  // namespace softgpu::ptx
