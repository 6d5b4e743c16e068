#include "tools/softgpu/ptx/directives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace softgpu::ptx {
namespace {

constexpr std::array<std::string_view, 13> kAttributes{
    "maxntid",       "reqntid",        "minnctapersm",         "maxnctapersm",    "maxnreg",
    "noreturn",      "maxclusterrank", "reqnctapercluster",    "explicitcluster", "blocksareclusters",
    "local_maxnreg", "abi_preserve",   "abi_preserve_control",
};

void skip_balanced(TokenStream& tokens, char open, char close) {
  tokens.expect(open);
  for (std::size_t depth = 1; depth > 0 && !tokens.failed();) {
    const Token token = tokens.next();
    if (token.kind == Token::Kind::kEnd) {
      const char wanted[] = {'\'', close, '\'', '\0'};
      tokens.fail_expected(wanted);
    }
    if (token.is(open)) ++depth;
    if (token.is(close)) --depth;
  }
}

void skip_pragma(TokenStream& tokens) {
  do {
    if (tokens.peek().kind != Token::Kind::kString) return tokens.fail_expected("a pragma's string");
    tokens.next();
  } while (tokens.accept(','));
  tokens.expect(';');
}

// The product of `256, 1, 1`; 0 without any number.
std::uint32_t parse_product(TokenStream& tokens) {
  if (tokens.peek().kind != Token::Kind::kInteger) return 0;
  std::uint64_t product = 1;
  do {
    product *= static_cast<std::uint64_t>(tokens.expect_integer("a number"));
    if (product > 0xffffffffu) tokens.fail("number of threads out of range");
  } while (tokens.accept(',') && !tokens.failed());
  return static_cast<std::uint32_t>(product);
}

}  // namespace

bool skip_directive(TokenStream& tokens, const Token& directive) {
  if (directive.text == "loc" || directive.text == "file") {
    tokens.skip_line(directive.line);
  } else if (directive.text == "pragma") {
    skip_pragma(tokens);
  } else if (directive.text == "section") {
    if (!tokens.peek().is('{')) tokens.next();
    skip_balanced(tokens, '{', '}');
  } else {
    return false;
  }
  return true;
}

void skip_parentheses(TokenStream& tokens) { skip_balanced(tokens, '(', ')'); }

void parse_function_attributes(TokenStream& tokens, Function& function) {
  while (tokens.peek().kind == Token::Kind::kDotName) {
    const Token directive = tokens.next();
    if (directive.text == "pragma") {
      skip_pragma(tokens);
      continue;
    }
    if (std::ranges::find(kAttributes, directive.text) == kAttributes.end()) {
      return tokens.fail(fmt::format("unknown function attribute '.{}'", directive.text));
    }
    const std::uint32_t product = parse_product(tokens);
    if (directive.text == "maxntid") function.max_threads = product;
    if (directive.text == "reqntid") function.required_threads = product;
  }
}

}  // namespace softgpu::ptx
