// What every part of the parser works on: the tokens, the module so far and its names. Called by the parser
// alone. Thread rule: one owner. Failure rule: errors go to `tokens`.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tools/softgpu/ptx/lexer.hpp"
#include "tools/softgpu/ptx/module.hpp"

namespace softgpu::ptx {

// The names already given in one name space of the tree, to keep new ones apart.
class UniqueNames {
 public:
  void add(std::string_view name) { counts_.try_emplace(std::string(name), 1); }
  std::string make(std::string_view name) {
    const auto [entry, fresh] = counts_.try_emplace(std::string(name), 1);
    return fresh ? entry->first : fmt::format("{}#{}", entry->first, ++entry->second);
  }

 private:
  std::unordered_map<std::string, std::uint32_t> counts_;
};

struct ModuleContext {
  explicit ModuleContext(std::string_view text) : tokens(text) {}

  [[nodiscard]] bool knows(std::string_view name) const {
    return variables.contains(name) || functions.contains(name);
  }

  TokenStream tokens;
  Module module;
  // To indices of `module`; the keys lie in the text.
  std::unordered_map<std::string_view, std::uint32_t> variables, functions;
  UniqueNames prototypes;
};

// A literal with its signs: `-4`, `0x10`, `0f3F800000`, `~1`. Not a literal: an error that says `wanted`.
Operand parse_literal(TokenStream& tokens, const char* wanted);

}  // namespace softgpu::ptx
