// Variables as they are declared: type, vector, alignment, attributes, array sizes, initial values. Called by
// the module and function parsers. Thread rule: one owner. Failure rule: errors go to the token stream.
#pragma once

#include <functional>
#include <vector>

#include "tools/softgpu/ptx/module_context.hpp"

namespace softgpu::ptx {

struct TypeSpecification {
  Type type = Type::kNone;
  std::uint32_t vector = 1;
  std::uint32_t align = 0;  // 0: natural
  bool is_managed = false;
};

// Everything between the state space and the name.
TypeSpecification parse_type(TokenStream& tokens);

// `.global` and so on is taken already; what follows up to the semicolon. `declare` gets each variable.
void parse_variables(ModuleContext& context, const Variable& defaults,
                     const std::function<void(std::string_view name, Variable)>& declare);

// The parenthesised parameters of a function, entry or prototype. `.reg` parameters have space kReg.
std::vector<Variable> parse_parameters(ModuleContext& context);

// What follows the `=` of `variable`, whose array sizes are `dimensions` (0 for a first one left open).
void parse_initial_value(ModuleContext& context, Variable& variable,
                         const std::vector<std::uint64_t>& dimensions);

}  // namespace softgpu::ptx
