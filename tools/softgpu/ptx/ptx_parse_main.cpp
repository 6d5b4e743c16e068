// ptx-parse [-q] FILES... : parses each file and prints what the tree holds, for looking over large corpora.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "tools/softgpu/ptx/parser.hpp"

namespace {

using softgpu::ptx::Function;
using softgpu::ptx::Instruction;
using softgpu::ptx::Operand;

std::string describe(const Operand& operand, const Function& function);

std::string describe_elements(const Operand& operand, const Function& function) {
  std::string text;
  for (const Operand& element : operand.elements) {
    text += (text.empty() ? "" : element.paired ? "|" : ", ") + describe(element, function);
  }
  return text;
}

std::string describe_memory(const Operand& operand, const Function& function) {
  std::string base = operand.symbol;
  if (operand.reg != softgpu::ptx::kNoIndex) base = function.registers[operand.reg].name;
  std::string text =
      base.empty() ? fmt::format("{}", operand.bits) : fmt::format("{}{:+}", base, operand.bits);
  if (!operand.elements.empty()) text.append(", ").append(describe_elements(operand, function));
  return fmt::format("[{}]", text);
}

std::string describe(const Operand& operand, const Function& function) {
  switch (operand.kind) {
    case Operand::Kind::kNone:
      return "?";
    case Operand::Kind::kRegister:
      return fmt::format("{}{}", operand.negated ? "!" : "", function.registers[operand.reg].name);
    case Operand::Kind::kImmediate:
      return operand.is_float ? fmt::format("0{}{:x}", operand.is_double ? 'd' : 'f',
                                            static_cast<std::uint64_t>(operand.bits))
                              : fmt::format("{}", operand.bits);
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

void print_instruction(const Instruction& instruction, std::size_t index, const Function& function) {
  std::string text = instruction.opcode;
  for (const std::string& modifier : instruction.modifiers) text.append(".").append(modifier);
  if (instruction.guard != softgpu::ptx::kNoIndex) {
    text = fmt::format("@{}{} {}", instruction.guard_negated ? "!" : "",
                       function.registers[instruction.guard].name, text);
  }
  Operand all;
  all.elements = instruction.operands;
  fmt::print("  {:5} line {:6}  {} {}\n", index, instruction.line, text, describe_elements(all, function));
}

void print_function(const Function& function) {
  fmt::print("{} {}: {} parameters, {} registers, {} variables\n", function.is_entry ? "entry" : "func",
             function.name, function.parameters.size(), function.registers.size(), function.variables.size());
  for (std::size_t i = 0; i < function.body.size(); ++i) print_instruction(function.body[i], i, function);
}

bool parse_file(const char* path, bool quiet) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto begin = std::chrono::steady_clock::now();
  const softgpu::ptx::ParseResult result = softgpu::ptx::parse(text);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  if (!result.module) {
    fmt::print("{}:{}: {}\n", path, result.error.line, result.error.what);
    return false;
  }
  std::size_t instructions = 0;
  for (const Function& function : result.module->functions) {
    instructions += function.body.size();
    if (!quiet) print_function(function);
  }
  fmt::print("{}: {} bytes, {} functions, {} instructions, {:.1f} ms\n", path, text.size(),
             result.module->functions.size(), instructions, time.count());
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  bool quiet = false, all_parsed = true;
  for (int i = 1; i < count; ++i) {
    if (std::string_view(arguments[i]) == "-q") {
      quiet = true;
    } else {
      all_parsed = parse_file(arguments[i], quiet) && all_parsed;
    }
  }
  return all_parsed ? 0 : 1;
}
