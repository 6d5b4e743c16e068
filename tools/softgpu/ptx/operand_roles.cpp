#include "tools/softgpu/ptx/operand_roles.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace softgpu::ptx {
namespace {

// Their first operand is a register and is read.
constexpr std::array<std::string_view, 5> kWithoutDestination{"bar", "barrier", "brx", "nanosleep",
                                                              "stackrestore"};
constexpr std::array<std::string_view, 5> kFlowEnds{"bra", "brx", "ret", "exit", "trap"};

bool has_destination(const Instruction& instruction) {
  const std::vector<std::string>& modifiers = instruction.modifiers;
  if (std::ranges::find(modifiers, "red") != modifiers.end()) return true;  // bar.red
  return std::ranges::find(kWithoutDestination, instruction.opcode) == kWithoutDestination.end();
}

void add_registers(const Operand& operand, std::vector<RegisterId>& to) {
  if (operand.kind == Operand::Kind::kRegister) to.push_back(operand.reg);
  for (const Operand& element : operand.elements) add_registers(element, to);
}

// An address is read even where it stands first.
void add_operand(const Operand& operand, bool is_destination, RegisterRoles& roles) {
  if (operand.kind != Operand::Kind::kMemory)
    return add_registers(operand, is_destination ? roles.writes : roles.reads);
  if (operand.reg != kNoIndex) roles.reads.push_back(operand.reg);
  for (const Operand& element : operand.elements) add_operand(element, false, roles);
}

}  // namespace

void find_roles(const Instruction& instruction, RegisterRoles& roles) {
  roles.reads.clear();
  roles.writes.clear();
  if (instruction.guard != kNoIndex) roles.reads.push_back(instruction.guard);
  const bool with_destination = has_destination(instruction);
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const Operand& operand = instruction.operands[i];
    add_operand(operand, with_destination && (i == 0 || (i == 1 && operand.paired)), roles);
  }
}

bool ends_flow(const Instruction& instruction) {
  return instruction.guard == kNoIndex && std::ranges::find(kFlowEnds, instruction.opcode) != kFlowEnds.end();
}

bool is_branch(const Instruction& instruction) {
  return instruction.opcode == "bra" || instruction.opcode == "brx";
}

}  // namespace softgpu::ptx
