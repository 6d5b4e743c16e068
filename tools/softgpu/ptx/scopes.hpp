// What the names of one function body mean, scope by scope. Called by the function parser. Thread rule: one
// owner. Failure rule: a name not found is null; leaving a scope hands unfinished branch targets to the outer
// one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/softgpu/ptx/module.hpp"

namespace softgpu::ptx {

struct Binding {
  enum class Kind : std::uint8_t { kRegister, kVectorRegister, kSymbol };
  Kind kind = Kind::kRegister;
  RegisterId reg = kNoIndex;  // the first of `width`
  std::uint32_t width = 1;
  std::string symbol;  // the name in the tree
};

// A branch target, or a table of them, that was used before its scope had the label.
struct PendingTarget {
  std::uint32_t instruction = 0, operand = 0;
  std::uint32_t element = kNoIndex;  // in a list of targets
  std::uint32_t line = 0;
  std::string_view name;
};

class Scopes {
 public:
  void enter() { scopes_.emplace_back(); }
  // Gives `body` the targets that this scope's labels and tables settle.
  void leave(std::vector<Instruction>& body);
  [[nodiscard]] std::size_t depth() const { return scopes_.size(); }

  // False where this scope has the name already.
  bool declare(std::string_view name, Binding binding);
  // `%r<12>`: %r0 to %r11.
  bool declare_range(std::string_view prefix, RegisterId first, std::uint32_t count);
  bool declare_label(std::string_view name, std::uint32_t instruction);
  bool declare_table(std::string_view name, std::vector<std::string_view> labels);
  void use_target(const PendingTarget& target) { scopes_.back().pending.push_back(target); }

  // Null for a name that no scope has; else valid until the next find().
  [[nodiscard]] const Binding* find(std::string_view name);
  // After the last leave(): what nothing settled.
  [[nodiscard]] const std::vector<PendingTarget>& unsettled() const { return unsettled_; }

 private:
  struct Range {
    std::string_view prefix;
    RegisterId first;
    std::uint32_t count;
  };
  struct Scope {
    std::unordered_map<std::string_view, Binding> names;
    std::vector<Range> ranges;
    std::unordered_map<std::string_view, std::uint32_t> labels;
    std::unordered_map<std::string_view, std::vector<std::string_view>> tables;
    std::vector<PendingTarget> pending;
  };
  static bool settle(Scope& scope, const PendingTarget& target, std::vector<Instruction>& body);
  [[nodiscard]] bool find_in_ranges(const Scope& scope, std::string_view name);

  std::vector<Scope> scopes_;
  std::vector<PendingTarget> unsettled_;
  Binding ranged_;
};

}  // namespace softgpu::ptx
