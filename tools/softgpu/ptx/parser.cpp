#include "tools/softgpu/ptx/parser.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "tools/softgpu/ptx/declarations.hpp"
#include "tools/softgpu/ptx/directives.hpp"
#include "tools/softgpu/ptx/function_parser.hpp"
#include "tools/softgpu/ptx/module_context.hpp"

namespace softgpu::ptx {
namespace {

class ModuleParser {
 public:
  explicit ModuleParser(std::string_view text) : context_(text), tokens_(context_.tokens) {}

  ParseResult parse() {
    if (!tokens_.accept_dot("version")) tokens_.fail_expected("'.version'");
    parse_version();
    while (tokens_.peek().kind != Token::Kind::kEnd) parse_directive();
    if (context_.module.target == 0) tokens_.fail("the module has no '.target'");
    if (tokens_.failed()) return {std::nullopt, tokens_.error()};
    return {std::move(context_.module), {}};
  }

 private:
  void parse_version() {
    const Token token = tokens_.next();
    const char* last = token.text.data() + token.text.size();
    const auto major = std::from_chars(token.text.data(), last, context_.module.version_major);
    if (token.kind != Token::Kind::kDouble || major.ptr == last || *major.ptr != '.') {
      return tokens_.fail("malformed '.version'");
    }
    std::from_chars(major.ptr + 1, last, context_.module.version_minor);
  }

  // sm_90a, debug, texmode_unified
  void parse_target() {
    do {
      const std::string_view name = tokens_.expect_name("a target");
      if (name.starts_with("sm_")) {
        std::from_chars(name.data() + 3, name.data() + name.size(), context_.module.target);
      }
    } while (tokens_.accept(','));
  }

  void parse_directive() {
    Variable linkage;
    Token directive = tokens_.next();
    while (take_linkage(directive, linkage)) directive = tokens_.next();
    if (directive.kind != Token::Kind::kDotName) return fail_at(directive, "expected a directive, found");
    if (directive.text == "entry" || directive.text == "func") {
      parse_function(context_, directive.text == "entry");
    } else if (directive.text == "target") {
      parse_target();
    } else if (directive.text == "address_size") {
      if (tokens_.expect_integer("an address size") != 64)
        tokens_.fail("only 64-bit addresses are supported");
    } else if (const Space space = variable_space(directive.text); space != Space::kNone) {
      linkage.space = space;
      parse_module_variables(linkage);
    } else if (!skip_directive(tokens_, directive)) {
      fail_at(directive, "unknown directive");
    }
  }

  static bool take_linkage(const Token& token, Variable& linkage) {
    if (token.is_dot("extern")) return linkage.is_extern = true;
    if (token.is_dot("visible") || token.is_dot("weak") || token.is_dot("common"))
      return linkage.is_visible = true;
    return false;
  }

  static Space variable_space(std::string_view name) {
    if (name == "global") return Space::kGlobal;
    if (name == "const") return Space::kConst;
    return name == "shared" ? Space::kShared : Space::kNone;
  }

  void parse_module_variables(const Variable& linkage) {
    parse_variables(context_, linkage, [this](std::string_view name, Variable variable) {
      std::vector<Variable>& variables = context_.module.variables;
      const auto index = static_cast<std::uint32_t>(variables.size());
      const auto [entry, fresh] = context_.variables.try_emplace(name, index);
      if (fresh && !context_.functions.contains(name)) {
        variables.push_back(std::move(variable));
      } else if (!fresh && variables[entry->second].is_extern) {
        variables[entry->second] = std::move(variable);
      } else if (fresh || !variable.is_extern) {
        tokens_.fail(fmt::format("'{}' is declared twice", name));
      }
    });
  }

  void fail_at(const Token& token, const char* what) {
    tokens_.fail(fmt::format("{} {}", what, token.spelling()));
  }

  ModuleContext context_;
  TokenStream& tokens_;
};

}  // namespace

ParseResult parse(std::string_view text) { return ModuleParser(text).parse(); }

}  // namespace softgpu::ptx
