// The statements of a function's body that are not instructions: scopes, declarations, labels.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/softgpu/ptx/declarations.hpp"
#include "tools/softgpu/ptx/directives.hpp"
#include "tools/softgpu/ptx/function_parser.hpp"

namespace softgpu::ptx {
namespace {

constexpr std::size_t kMaxRegisters = std::size_t{1} << 20;
constexpr std::size_t kMaxScopes = 100;
constexpr std::array<std::string_view, 4> kComponents{".x", ".y", ".z", ".w"};

struct BodySpace {
  std::string_view name;
  Space space;
};
constexpr std::array kBodySpaces{BodySpace{"local", Space::kLocal}, BodySpace{"shared", Space::kShared},
                                 BodySpace{"param", Space::kParam}, BodySpace{"global", Space::kGlobal},
                                 BodySpace{"const", Space::kConst}};

}  // namespace

FunctionBodyParser::FunctionBodyParser(ModuleContext& context, Function& function)
    : context_(context), tokens_(context.tokens), function_(function) {
  scopes_.enter();
  for (const std::vector<Variable>* list : {&function.returns, &function.parameters}) {
    for (const Variable& variable : *list) {
      names_.add(variable.name);
      if (variable.space == Space::kReg) {
        declare_register(variable.name, variable.type, 1);
      } else {
        scopes_.declare(variable.name, {Binding::Kind::kSymbol, kNoIndex, 1, variable.name});
      }
    }
  }
}

void FunctionBodyParser::parse() {
  parse_block();
  if (tokens_.failed()) return;
  scopes_.leave(function_.body);
  if (scopes_.unsettled().empty()) return;
  const PendingTarget& target = scopes_.unsettled().front();
  tokens_.fail(fmt::format("unknown label '{}' of line {}", target.name, target.line));
}

void FunctionBodyParser::parse_block() {
  while (!tokens_.failed() && !tokens_.accept('}')) {
    if (tokens_.peek().kind == Token::Kind::kEnd) return tokens_.fail_expected("'}'");
    parse_statement();
  }
}

void FunctionBodyParser::parse_statement() {
  if (tokens_.peek().kind == Token::Kind::kDotName) return parse_directive();
  if (tokens_.peek().is('@')) return parse_guarded();
  if (tokens_.accept(';')) return;
  if (tokens_.accept('{')) {
    if (scopes_.depth() >= kMaxScopes) return tokens_.fail("scopes nested too deeply");
    scopes_.enter();
    parse_block();
    if (!tokens_.failed()) scopes_.leave(function_.body);
    return;
  }
  const std::uint32_t line = tokens_.peek().line;
  const std::string_view name = tokens_.expect_name("an instruction, a directive or '}'");
  if (tokens_.accept(':')) return parse_labelled(name);
  Instruction instruction;
  instruction.line = line;
  instruction.opcode = name;
  parse_instruction(std::move(instruction));
}

void FunctionBodyParser::parse_directive() {
  const Token directive = tokens_.next();
  if (directive.text == "reg") return parse_registers();
  for (const BodySpace& row : kBodySpaces) {
    if (directive.text == row.name) return parse_locals(row.space);
  }
  if (!skip_directive(tokens_, directive))
    tokens_.fail(fmt::format("unknown directive '.{}'", directive.text));
}

void FunctionBodyParser::parse_registers() {
  const TypeSpecification type = parse_type(tokens_);
  do {
    const std::string_view name = tokens_.expect_name("a register's name");
    if (tokens_.accept('<')) {
      if (type.vector != 1) tokens_.fail("a range of vector registers is not supported");
      declare_register_range(name, type.type);
    } else {
      declare_register(name, type.type, type.vector);
    }
  } while (tokens_.accept(','));
  tokens_.expect(';');
}

RegisterId FunctionBodyParser::add_registers(std::uint32_t count) {
  const std::size_t first = function_.registers.size();
  if (first + count > kMaxRegisters) {
    tokens_.fail("more than 2^20 registers in one function");
    return 0;
  }
  return static_cast<RegisterId>(first);
}

void FunctionBodyParser::declare_register(std::string_view name, Type type, std::uint32_t vector) {
  if (vector > kComponents.size()) return tokens_.fail("a register has at most four components");
  const RegisterId first = add_registers(vector);
  for (std::uint32_t i = 0; i < vector; ++i) {
    function_.registers.push_back({std::string(name) + std::string(vector > 1 ? kComponents[i] : ""), type});
  }
  const auto kind = vector > 1 ? Binding::Kind::kVectorRegister : Binding::Kind::kRegister;
  if (!scopes_.declare(name, {kind, first, vector, {}})) {
    tokens_.fail(fmt::format("'{}' is declared twice", name));
  }
}

void FunctionBodyParser::declare_register_range(std::string_view prefix, Type type) {
  const std::int64_t count = tokens_.expect_integer("the number of registers");
  tokens_.expect('>');
  if (count < 0 || static_cast<std::uint64_t>(count) > kMaxRegisters)
    return tokens_.fail("number of registers out of range");
  const auto number = static_cast<std::uint32_t>(count);
  const RegisterId first = add_registers(number);
  if (tokens_.failed()) return;
  for (std::uint32_t i = 0; i < number; ++i) {
    function_.registers.push_back({std::string(prefix) + std::to_string(i), type});
  }
  if (!scopes_.declare_range(prefix, first, number)) {
    tokens_.fail(fmt::format("the registers '{}' are declared twice", prefix));
  }
}

void FunctionBodyParser::parse_locals(Space space) {
  Variable defaults;
  defaults.space = space;
  parse_variables(context_, defaults, [this](std::string_view name, Variable variable) {
    if (context_.knows(name)) names_.add(name);
    variable.name = names_.make(name);
    if (!scopes_.declare(name, {Binding::Kind::kSymbol, kNoIndex, 1, variable.name})) {
      return tokens_.fail(fmt::format("'{}' is declared twice", name));
    }
    function_.variables.push_back(std::move(variable));
  });
}

void FunctionBodyParser::parse_labelled(std::string_view label) {
  if (tokens_.accept_dot("branchtargets")) return parse_branch_targets(label);
  if (tokens_.accept_dot("callprototype")) return parse_prototype(label);
  if (tokens_.peek().is_dot("calltargets")) return tokens_.fail(".calltargets is not supported");
  if (!scopes_.declare_label(label, static_cast<std::uint32_t>(function_.body.size()))) {
    tokens_.fail(fmt::format("the label '{}' is declared twice", label));
  }
}

void FunctionBodyParser::parse_branch_targets(std::string_view label) {
  std::vector<std::string_view> targets;
  do {
    targets.push_back(tokens_.expect_name("a label"));
  } while (tokens_.accept(','));
  tokens_.expect(';');
  if (!scopes_.declare_table(label, std::move(targets))) {
    tokens_.fail(fmt::format("the label '{}' is declared twice", label));
  }
}

void FunctionBodyParser::parse_prototype(std::string_view label) {
  Function prototype;
  prototype.name = context_.prototypes.make(label);
  prototype.line = tokens_.peek().line;
  prototype.is_declaration = prototype.is_prototype = true;
  if (tokens_.peek().is('(')) prototype.returns = parse_parameters(context_);
  tokens_.expect_name("'_'");
  if (tokens_.peek().is('(')) prototype.parameters = parse_parameters(context_);
  parse_function_attributes(tokens_, prototype);
  tokens_.expect(';');
  if (!scopes_.declare(label, {Binding::Kind::kSymbol, kNoIndex, 1, prototype.name})) {
    tokens_.fail(fmt::format("'{}' is declared twice", label));
  }
  context_.module.functions.push_back(std::move(prototype));
}

}  // namespace softgpu::ptx
