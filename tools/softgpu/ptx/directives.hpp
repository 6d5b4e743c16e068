// Directives that may stand at several places: attributes of a function, debug information, pragmas. Called
// by the module and function parsers. Thread rule: one owner. Failure rule: errors go to the token stream.
#pragma once

#include "tools/softgpu/ptx/lexer.hpp"
#include "tools/softgpu/ptx/module.hpp"

namespace softgpu::ptx {

// Skips .loc, .file, .section and .pragma, whose name `directive` is taken already. False for any other.
bool skip_directive(TokenStream& tokens, const Token& directive);

// Up to the matching ')'; the next token is '('.
void skip_parentheses(TokenStream& tokens);

// .maxntid, .reqntid, .minnctapersm, ... between a function's parameters and its body.
void parse_function_attributes(TokenStream& tokens, Function& function);

}  // namespace softgpu::ptx
