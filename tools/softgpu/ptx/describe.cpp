#include "tools/softgpu/ptx/describe.hpp"

#include <fmt/format.h>

namespace softgpu::ptx {
namespace {

std::string describe_elements(const Operand& operand, const Function& function) {
  std::string text;
  for (const Operand& element : operand.elements) {
    text += (text.empty() ? "" : element.paired ? "|" : ", ") + describe(element, function);
  }
  return text;
}

std::string describe_memory(const Operand& operand, const Function& function) {
  std::string base = operand.symbol;
  if (operand.reg != kNoIndex) base = function.registers[operand.reg].name;
  std::string text =
      base.empty() ? fmt::format("{}", operand.bits) : fmt::format("{}{:+}", base, operand.bits);
  if (!operand.elements.empty()) text.append(", ").append(describe_elements(operand, function));
  return fmt::format("[{}]", text);
}

}  // namespace

std::string describe(const Operand& operand, const Function& function) {
  switch (operand.kind) {
    case Operand::Kind::kNone:
      return "?";
    case Operand::Kind::kRegister:
      return fmt::format("{}{}", operand.negated ? "!" : "", function.registers[operand.reg].name);
    case Operand::Kind::kImmediate:
      if (!operand.is_float) return fmt::format("{}", operand.bits);
      return operand.is_double ? fmt::format("0d{:016x}", static_cast<std::uint64_t>(operand.bits))
                               : fmt::format("0f{:08x}", static_cast<std::uint64_t>(operand.bits));
    case Operand::Kind::kSymbol:
      return operand.bits == 0 ? operand.symbol : fmt::format("{}{:+}", operand.symbol, operand.bits);
    case Operand::Kind::kMemory:
      return describe_memory(operand, function);
    case Operand::Kind::kVector:
      return fmt::format("{{{}}}", describe_elements(operand, function));
    case Operand::Kind::kLabel:
      return fmt::format("@{}", operand.target);
    case Operand::Kind::kSpecial:
      return operand.symbol;
    case Operand::Kind::kSink:
      return "_";
    case Operand::Kind::kList:
      return fmt::format("({})", describe_elements(operand, function));
  }
  return "?";
}

std::string describe(const Instruction& instruction, const Function& function) {
  std::string text;
  if (instruction.guard != kNoIndex) {
    text = fmt::format("@{}{} ", instruction.guard_negated ? "!" : "",
                       function.registers[instruction.guard].name);
  }
  text += instruction.opcode;
  for (const std::string& modifier : instruction.modifiers) text.append(".").append(modifier);
  Operand all;
  all.elements = instruction.operands;
  return instruction.operands.empty() ? text : text.append(" ").append(describe_elements(all, function));
}

}  // namespace softgpu::ptx
