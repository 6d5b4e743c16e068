// From the text of one PTX module to its syntax tree. Called once per loaded module, by the engine and the
// tests. Thread rule: pure. Failure rule: the first thing not understood is the error, with its line; there
// is no partial module. Instructions are not checked for meaning: an unknown opcode parses, the decoder
// refuses it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/softgpu/ptx/module.hpp"

namespace softgpu::ptx {

struct ParseError {
  std::uint32_t line = 0;
  std::string what;
};

struct ParseResult {
  std::optional<Module> module;
  ParseError error;  // meaningful without a module
};

// `text` may end with NUL bytes, as it does in a fat binary.
[[nodiscard]] ParseResult parse(std::string_view text);

}  // namespace softgpu::ptx
