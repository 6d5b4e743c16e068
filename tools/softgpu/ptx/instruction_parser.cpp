// Instructions and their operands.
#include <fmt/format.h>

#include <bit>

#include "tools/softgpu/ptx/function_parser.hpp"
#include "tools/softgpu/ptx/special_registers.hpp"

namespace softgpu::ptx {
namespace {

constexpr std::size_t kMaxOperandDepth = 16;

void negate(Operand& operand) {
  if (!operand.is_float) {
    operand.bits = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(operand.bits));
  } else {
    operand.bits ^= operand.is_double ? std::int64_t{1} << 63 : std::int64_t{1} << 31;
  }
}

}  // namespace

Operand parse_literal(TokenStream& tokens, const char* wanted) {
  Operand operand;
  const bool minus = tokens.accept('-');
  const bool complement = !minus && tokens.accept('~');
  const Token token = tokens.peek();
  const bool is_float = token.kind == Token::Kind::kSingle || token.kind == Token::Kind::kDouble;
  if ((!is_float && token.kind != Token::Kind::kInteger) || (is_float && complement)) {
    tokens.fail_expected(wanted);
    return operand;
  }
  tokens.next();
  operand.kind = Operand::Kind::kImmediate;
  operand.is_float = is_float;
  operand.is_double = token.kind == Token::Kind::kDouble;
  operand.bits = static_cast<std::int64_t>(token.bits);
  if (minus) negate(operand);
  if (complement) operand.bits = ~operand.bits;
  return operand;
}

void FunctionBodyParser::parse_guarded() {
  Instruction instruction;
  instruction.line = tokens_.peek().line;
  tokens_.expect('@');
  instruction.guard_negated = tokens_.accept('!');
  const std::string_view name = tokens_.expect_name("a predicate register");
  const Binding* binding = tokens_.failed() ? nullptr : scopes_.find(name);
  if (binding == nullptr || binding->kind != Binding::Kind::kRegister) {
    return tokens_.fail(fmt::format("'{}' is not a predicate register", name));
  }
  instruction.guard = binding->reg;
  instruction.opcode = tokens_.expect_name("an instruction");
  parse_instruction(std::move(instruction));
}

void FunctionBodyParser::parse_instruction(Instruction instruction) {
  while (tokens_.peek().kind == Token::Kind::kDotName)
    instruction.modifiers.emplace_back(tokens_.next().text);
  if (instruction.opcode == "call") {
    parse_call(instruction.operands);
  } else if (instruction.opcode == "bra" || instruction.opcode == "brx") {
    parse_branch(instruction);
  } else if (!tokens_.peek().is(';')) {
    parse_operands(instruction.operands);
  }
  tokens_.expect(';');
  if (!tokens_.failed()) function_.body.push_back(std::move(instruction));
}

void FunctionBodyParser::parse_operands(std::vector<Operand>& operands) {
  do {
    operands.push_back(parse_operand());
    if (!tokens_.accept('|')) continue;
    operands.push_back(parse_operand());
    operands.back().paired = true;
  } while (tokens_.accept(','));
}

// call (r), f, (a, b);  call f, (a);  call f;  call (r), %rd1, (a), prototype;
void FunctionBodyParser::parse_call(std::vector<Operand>& operands) {
  Operand empty;
  empty.kind = Operand::Kind::kList;
  const bool has_returns = tokens_.peek().is('(');
  operands.push_back(has_returns ? parse_operand() : empty);
  if (has_returns) tokens_.expect(',');
  operands.push_back(parse_operand());
  const bool has_more = tokens_.accept(',');
  const bool has_arguments = has_more && tokens_.peek().is('(');
  operands.push_back(has_arguments ? parse_operand() : empty);
  if (has_arguments ? tokens_.accept(',') : has_more) operands.push_back(parse_operand());
}

// bra label;  brx.idx %r1, table;
void FunctionBodyParser::parse_branch(Instruction& instruction) {
  if (instruction.opcode == "brx") {
    instruction.operands.push_back(parse_operand());
    tokens_.expect(',');
  }
  instruction.operands.push_back(parse_target(static_cast<std::uint32_t>(instruction.operands.size())));
}

// Becomes a kLabel, or a kList of them, when the scope with the label ends.
Operand FunctionBodyParser::parse_target(std::uint32_t operand) {
  PendingTarget target;
  target.instruction = static_cast<std::uint32_t>(function_.body.size());
  target.operand = operand;
  target.line = tokens_.peek().line;
  target.name = tokens_.expect_name("a label");
  scopes_.use_target(target);
  return {};
}

Operand FunctionBodyParser::parse_operand() {
  const Token& token = tokens_.peek();
  if (token.kind == Token::Kind::kName) return parse_named();
  if (token.is('[')) return parse_memory();
  if (token.is('{')) return parse_group(Operand::Kind::kVector, '{', '}');
  if (token.is('(')) return parse_group(Operand::Kind::kList, '(', ')');
  if (!tokens_.accept('!')) return parse_literal(tokens_, "an operand");
  Operand operand = parse_named();
  operand.negated = true;
  if (operand.kind != Operand::Kind::kRegister) tokens_.fail("'!' needs a predicate register");
  return operand;
}

Operand FunctionBodyParser::parse_named() {
  Operand operand;
  const std::string_view name = tokens_.expect_name("a register or symbol");
  const bool has_component = tokens_.peek().kind == Token::Kind::kDotName && tokens_.adjacent();
  const std::string_view component = has_component ? tokens_.next().text : std::string_view();
  if (tokens_.failed()) return operand;
  if (name == "_") {
    operand.kind = Operand::Kind::kSink;
  } else if (const Binding* binding = scopes_.find(name); binding != nullptr) {
    return from_binding(*binding, component);
  } else if (is_special_register(name)) {
    operand.kind = Operand::Kind::kSpecial;
    operand.symbol = has_component ? fmt::format("{}.{}", name, component) : std::string(name);
  } else if (context_.knows(name)) {
    operand.kind = Operand::Kind::kSymbol;
    operand.symbol = name;
    operand.bits = parse_offset();
  } else {
    tokens_.fail(fmt::format("unknown name '{}'", name));
  }
  return operand;
}

Operand FunctionBodyParser::from_binding(const Binding& binding, std::string_view component) {
  Operand operand;
  operand.kind = Operand::Kind::kRegister;
  operand.reg = binding.reg;
  if (binding.kind == Binding::Kind::kSymbol) {
    operand.kind = Operand::Kind::kSymbol;
    operand.symbol = binding.symbol;
    operand.bits = parse_offset();
  } else if (binding.kind == Binding::Kind::kVectorRegister && component.empty()) {
    operand.kind = Operand::Kind::kVector;
    operand.elements.resize(binding.width, operand);
    for (std::uint32_t i = 0; i < binding.width; ++i) {
      operand.elements[i].kind = Operand::Kind::kRegister;
      operand.elements[i].reg = binding.reg + i;
    }
  }
  if (component.empty()) return operand;
  const std::size_t index = std::string_view("xyzw").find(component);
  if (binding.kind != Binding::Kind::kVectorRegister || index >= binding.width) {
    tokens_.fail(fmt::format("'.{}' of something that has no such component", component));
  }
  operand.reg += static_cast<RegisterId>(index);
  return operand;
}

std::int64_t FunctionBodyParser::parse_offset() {
  if (tokens_.accept('+')) return parse_literal(tokens_, "an offset").bits;
  return tokens_.peek().is('-') ? parse_literal(tokens_, "an offset").bits : 0;
}

// [%rd1+8], [symbol-4], [16], [texture, {%f1, %f2}]
Operand FunctionBodyParser::parse_memory() {
  tokens_.expect('[');
  Operand operand;
  if (tokens_.peek().kind == Token::Kind::kName) {
    operand = parse_named();
    if (operand.kind == Operand::Kind::kRegister) operand.bits = parse_offset();
    if (operand.kind != Operand::Kind::kRegister && operand.kind != Operand::Kind::kSymbol) {
      tokens_.fail("an address must be a register, a symbol or a number");
    }
  } else {
    operand.bits = parse_literal(tokens_, "an address").bits;
  }
  operand.kind = Operand::Kind::kMemory;
  if (tokens_.accept(',')) parse_operands(operand.elements);
  tokens_.expect(']');
  return operand;
}

Operand FunctionBodyParser::parse_group(Operand::Kind kind, char open, char close) {
  Operand operand;
  operand.kind = kind;
  tokens_.expect(open);
  if (++operand_depth_ > kMaxOperandDepth) tokens_.fail("operands nested too deeply");
  if (!tokens_.peek().is(close)) parse_operands(operand.elements);
  --operand_depth_;
  tokens_.expect(close);
  return operand;
}

}  // namespace softgpu::ptx
