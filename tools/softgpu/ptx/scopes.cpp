#include "tools/softgpu/ptx/scopes.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace softgpu::ptx {

bool Scopes::settle(Scope& scope, const PendingTarget& target, std::vector<Instruction>& body) {
  Operand& operand = body[target.instruction].operands[target.operand];
  if (const auto label = scope.labels.find(target.name); label != scope.labels.end()) {
    Operand& place = target.element == kNoIndex ? operand : operand.elements[target.element];
    place.kind = Operand::Kind::kLabel;
    place.target = label->second;
    return true;
  }
  const auto table = scope.tables.find(target.name);
  if (table == scope.tables.end() || target.element != kNoIndex) return false;
  operand.kind = Operand::Kind::kList;
  operand.elements.resize(table->second.size());
  for (std::uint32_t i = 0; i < operand.elements.size(); ++i) {
    PendingTarget element = target;
    element.element = i;
    element.name = table->second[i];
    scope.pending.push_back(element);
  }
  return true;
}

void Scopes::leave(std::vector<Instruction>& body) {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  std::vector<PendingTarget>& outer = scopes_.empty() ? unsettled_ : scopes_.back().pending;
  while (!scope.pending.empty()) {  // a table adds its labels while it is settled
    const PendingTarget target = scope.pending.back();
    scope.pending.pop_back();
    if (!settle(scope, target, body)) outer.push_back(target);
  }
}

bool Scopes::declare(std::string_view name, Binding binding) {
  if (find_in_ranges(scopes_.back(), name)) return false;
  return scopes_.back().names.emplace(name, std::move(binding)).second;
}

bool Scopes::declare_range(std::string_view prefix, RegisterId first, std::uint32_t count) {
  Scope& scope = scopes_.back();
  if (std::ranges::find(scope.ranges, prefix, &Range::prefix) != scope.ranges.end()) return false;
  scope.ranges.push_back({prefix, first, count});
  return true;
}

bool Scopes::declare_label(std::string_view name, std::uint32_t instruction) {
  return scopes_.back().labels.emplace(name, instruction).second;
}

bool Scopes::declare_table(std::string_view name, std::vector<std::string_view> labels) {
  return scopes_.back().tables.emplace(name, std::move(labels)).second;
}

bool Scopes::find_in_ranges(const Scope& scope, std::string_view name) {
  for (const Range& range : scope.ranges) {
    if (!name.starts_with(range.prefix) || name.size() == range.prefix.size()) continue;
    const std::string_view digits = name.substr(range.prefix.size());
    std::uint32_t number = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool whole = result.ec == std::errc() && result.ptr == digits.data() + digits.size();
    if (!whole || number >= range.count || (digits.size() > 1 && digits.front() == '0')) continue;
    ranged_.reg = range.first + number;
    return true;
  }
  return false;
}

const Binding* Scopes::find(std::string_view name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (find_in_ranges(*scope, name)) return &ranged_;
    if (const auto found = scope->names.find(name); found != scope->names.end()) return &found->second;
  }
  return nullptr;
}

}  // namespace softgpu::ptx
