#include "tools/softgpu/ptx/function_parser.hpp"

#include <fmt/format.h>

#include "tools/softgpu/ptx/declarations.hpp"
#include "tools/softgpu/ptx/directives.hpp"

namespace softgpu::ptx {
namespace {

struct Header {
  Function function;
  std::string_view name;  // in the text
};

Header parse_header(ModuleContext& context, bool is_entry) {
  Header header;
  header.function.is_entry = is_entry;
  header.function.line = context.tokens.peek().line;
  if (context.tokens.accept_dot("attribute")) skip_parentheses(context.tokens);
  if (!is_entry && context.tokens.peek().is('(')) header.function.returns = parse_parameters(context);
  header.name = context.tokens.expect_name("the function's name");
  header.function.name = header.name;
  if (context.tokens.peek().is('(')) header.function.parameters = parse_parameters(context);
  parse_function_attributes(context.tokens, header.function);
  return header;
}

// The index of the function in the module; an earlier declaration's, where there is one.
std::uint32_t find_or_add(ModuleContext& context, std::string_view name) {
  std::vector<Function>& functions = context.module.functions;
  const auto index = static_cast<std::uint32_t>(functions.size());
  const auto [entry, fresh] = context.functions.try_emplace(name, index);
  if (fresh) functions.emplace_back().is_declaration = true;
  if (fresh && context.variables.contains(name)) {
    context.tokens.fail(fmt::format("'{}' is declared twice", name));
  }
  context.prototypes.add(name);
  return entry->second;
}

}  // namespace

void parse_function(ModuleContext& context, bool is_entry) {
  Header header = parse_header(context, is_entry);
  if (context.tokens.failed()) return;
  const std::uint32_t index = find_or_add(context, header.name);
  const bool is_defined = !context.module.functions[index].is_declaration;
  header.function.is_declaration = context.tokens.accept(';');
  if (!header.function.is_declaration) {
    context.tokens.expect('{');
    if (is_defined)
      context.tokens.fail(fmt::format("the function '{}' is defined twice", header.function.name));
    FunctionBodyParser(context, header.function).parse();
  }
  if (!is_defined) context.module.functions[index] = std::move(header.function);
}

}  // namespace softgpu::ptx
