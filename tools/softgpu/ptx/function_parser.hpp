// Functions, entries and prototypes, from their header to the end of their body. Called by parser.cpp. Thread
// rule: one owner. Failure rule: errors go to the token stream.
#pragma once

#include "tools/softgpu/ptx/module_context.hpp"
#include "tools/softgpu/ptx/scopes.hpp"

namespace softgpu::ptx {

// `.func` or `.entry` is taken already; adds to the module what follows.
void parse_function(ModuleContext& context, bool is_entry);

class FunctionBodyParser {
 public:
  FunctionBodyParser(ModuleContext& context, Function& function);
  void parse();

 private:
  // function_parser.cpp
  void parse_block();
  void parse_statement();
  void parse_directive();
  void parse_registers();
  void declare_register(std::string_view name, Type type, std::uint32_t vector);
  void declare_register_range(std::string_view prefix, Type type);
  RegisterId add_registers(std::uint32_t count);
  void parse_locals(Space space);
  void parse_labelled(std::string_view label);
  void parse_branch_targets(std::string_view label);
  void parse_prototype(std::string_view label);

  // instruction_parser.cpp
  void parse_guarded();
  void parse_instruction(Instruction instruction);
  void parse_operands(std::vector<Operand>& operands);
  void parse_call(std::vector<Operand>& operands);
  void parse_branch(Instruction& instruction);
  Operand parse_target(std::uint32_t operand);
  Operand parse_operand();
  Operand parse_named();
  Operand parse_memory();
  Operand parse_group(Operand::Kind kind, char open, char close);
  Operand from_binding(const Binding& binding, std::string_view component);
  std::int64_t parse_offset();

  ModuleContext& context_;
  TokenStream& tokens_;
  Function& function_;
  Scopes scopes_;
  UniqueNames names_;
  std::size_t operand_depth_ = 0;
};

}  // namespace softgpu::ptx
