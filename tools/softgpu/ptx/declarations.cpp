#include "tools/softgpu/ptx/declarations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "tools/softgpu/ptx/types.hpp"

namespace softgpu::ptx {
namespace {

// More than any device has; also keeps products of array sizes from overflowing.
constexpr std::uint64_t kMaxVariableBytes = std::uint64_t{1} << 40;
constexpr std::uint64_t kMaxInitialBytes = std::uint64_t{1} << 28;
constexpr std::array<std::string_view, 5> kPointerSpaces{"global", "shared", "const", "local", "param"};

std::uint32_t parse_alignment(TokenStream& tokens) {
  const std::int64_t align = tokens.expect_integer("an alignment");
  if (align <= 0 || align > 65536 || !std::has_single_bit(static_cast<std::uint64_t>(align))) {
    tokens.fail("an alignment must be a power of two up to 65536");
    return 1;
  }
  return static_cast<std::uint32_t>(align);
}

// .attribute(.managed), .attribute(.unified(a, b))
bool parse_attribute(TokenStream& tokens) {
  bool managed = false;
  tokens.expect('(');
  for (int depth = 1; depth > 0 && !tokens.failed();) {
    const Token token = tokens.next();
    managed = managed || token.is_dot("managed");
    depth += token.is('(') ? 1 : token.is(')') ? -1 : 0;
    if (token.kind == Token::Kind::kEnd) tokens.fail_expected("')'");
  }
  return managed;
}

// .ptr .global .align 8 : what a pointer parameter points to; only a hint.
void skip_pointer_hint(TokenStream& tokens) {
  for (const std::string_view space : kPointerSpaces) tokens.accept_dot(space);
  if (tokens.accept_dot("align")) parse_alignment(tokens);
}

std::uint64_t parse_dimension(TokenStream& tokens) {
  if (tokens.accept(']')) return 0;
  const std::int64_t count = tokens.expect_integer("an array size");
  tokens.expect(']');
  if (count < 0 || static_cast<std::uint64_t>(count) > kMaxVariableBytes)
    tokens.fail("array size out of range");
  return static_cast<std::uint64_t>(count);
}

std::vector<std::uint64_t> parse_dimensions(TokenStream& tokens) {
  std::vector<std::uint64_t> dimensions;
  while (tokens.accept('[')) dimensions.push_back(parse_dimension(tokens));
  return dimensions;
}

std::uint64_t array_bytes(TokenStream& tokens, std::uint64_t element,
                          const std::vector<std::uint64_t>& dimensions) {
  unsigned __int128 bytes = element;
  for (const std::uint64_t dimension : dimensions) {
    bytes = std::min<unsigned __int128>(bytes * dimension, kMaxVariableBytes + 1);
  }
  if (bytes > kMaxVariableBytes) tokens.fail("the variable is too large");
  return static_cast<std::uint64_t>(bytes);
}

Variable make_variable(const Variable& defaults, const TypeSpecification& type, std::string_view name) {
  Variable variable = defaults;
  variable.name = name;
  variable.type = type.type;
  variable.is_managed = type.is_managed;
  variable.size = std::uint64_t{type_bytes(type.type)} * type.vector;
  variable.align = type.align != 0 ? type.align : static_cast<std::uint32_t>(variable.size);
  return variable;
}

void parse_declarator(ModuleContext& context, Variable& variable) {
  const std::vector<std::uint64_t> dimensions = parse_dimensions(context.tokens);
  variable.size = array_bytes(context.tokens, variable.size, dimensions);
  if (!context.tokens.accept('=')) return;
  parse_initial_value(context, variable, dimensions);
  if (variable.size > kMaxInitialBytes) return context.tokens.fail("the initialised variable is too large");
  if (!variable.initial.empty()) variable.initial.resize(variable.size);
}

Variable parse_parameter(ModuleContext& context) {
  TokenStream& tokens = context.tokens;
  Variable defaults;
  defaults.space = Space::kParam;
  if (tokens.accept_dot("reg")) {
    defaults.space = Space::kReg;
  } else if (!tokens.accept_dot("param")) {
    tokens.fail_expected("'.param' or '.reg'");
  }
  const TypeSpecification type = parse_type(tokens);
  Variable variable = make_variable(defaults, type, tokens.expect_name("the parameter's name"));
  parse_declarator(context, variable);
  return variable;
}

}  // namespace

TypeSpecification parse_type(TokenStream& tokens) {
  TypeSpecification result;
  while (tokens.peek().kind == Token::Kind::kDotName) {
    const Token token = tokens.next();
    if (token.text == "align") {
      result.align = parse_alignment(tokens);
    } else if (token.text == "attribute") {
      result.is_managed = parse_attribute(tokens) || result.is_managed;
    } else if (token.text == "ptr") {
      skip_pointer_hint(tokens);
    } else if (token.text == "v2" || token.text == "v4" || token.text == "v8") {
      result.vector = static_cast<std::uint32_t>(token.text[1] - '0');
    } else if (const Type type = type_named(token.text); type != Type::kNone) {
      result.type = type;
    } else {
      tokens.fail(fmt::format("unknown type or attribute '.{}'", token.text));
    }
  }
  if (result.type == Type::kNone) tokens.fail_expected("a type");
  return result;
}

void parse_variables(ModuleContext& context, const Variable& defaults,
                     const std::function<void(std::string_view name, Variable)>& declare) {
  const TypeSpecification type = parse_type(context.tokens);
  do {
    const std::string_view name = context.tokens.expect_name("the variable's name");
    Variable variable = make_variable(defaults, type, name);
    parse_declarator(context, variable);
    if (!context.tokens.failed()) declare(name, std::move(variable));
  } while (context.tokens.accept(','));
  context.tokens.expect(';');
}

std::vector<Variable> parse_parameters(ModuleContext& context) {
  std::vector<Variable> parameters;
  context.tokens.expect('(');
  if (context.tokens.accept(')')) return parameters;
  do {
    parameters.push_back(parse_parameter(context));
  } while (context.tokens.accept(','));
  context.tokens.expect(')');
  return parameters;
}

}  // namespace softgpu::ptx
