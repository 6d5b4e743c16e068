#include "tools/softgpu/engine/program.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/softgpu/engine/decoder.hpp"
#include "tools/softgpu/engine/testing.hpp"
#include "tools/softgpu/ptx/parser.hpp"

namespace softgpu::engine {
namespace {

constexpr std::uint32_t kDeepStack = 64 << 10;  // a thread's local memory where calls may recurse
constexpr std::uint32_t kMaxThreads = 1024;

bool is_body(const ptx::Function& f) { return !f.is_declaration && !f.is_prototype; }
std::uint32_t align_up(std::uint64_t value, std::uint64_t to) {
  return static_cast<std::uint32_t>((value + to - 1) / to * to);
}
GlobalInfo describe(const ptx::Variable& v) {
  return {v.name, v.size, std::max<std::uint64_t>(v.align, 1), v.space == ptx::Space::kConst, v.is_managed};
}

}  // namespace

struct CompiledProgram::NamesHolder {
  Names names;
};

CompiledProgram::CompiledProgram(const ptx::Module& module, const Kernels& kernels)
    : kernels_(kernels), names_(std::make_shared<NamesHolder>()), module_(&module) {
  name_everything();
  decode_functions();
  for (std::size_t k = 0; k < codes_.size(); ++k) {
    if (functions_[k]->is_entry) describe_entry(k, *functions_[k]);
  }
  functions_.clear();
  module_ = nullptr;
}

void CompiledProgram::name_everything() {
  auto& entries = names_->names.entries;
  const auto add_variable = [&](const ptx::Variable& v) {
    if (v.space == ptx::Space::kShared) {
      entries[v.name] = {Names::Kind::kShared, static_cast<std::uint32_t>(shared_.size())};
      shared_.push_back({static_cast<std::uint32_t>(v.size), std::max<std::uint32_t>(v.align, 1),
                         v.is_extern && v.size == 0});
      return;
    }
    entries[v.name] = {Names::Kind::kGlobal, static_cast<std::uint32_t>(global_infos_.size())};
    global_infos_.push_back(describe(v));
    global_bytes_.push_back(v.initial);
    if (!v.initial.empty()) global_bytes_.back().resize(v.size);
    relocations_.push_back(v.relocations);
  };
  for (const ptx::Variable& v : module_->variables) add_variable(v);
  for (const ptx::Function& f : module_->functions) {
    if (f.is_prototype) {
      entries[f.name] = {Names::Kind::kPrototype, 0};
    } else if (is_body(f)) {
      entries[f.name] = {Names::Kind::kFunction, static_cast<std::uint32_t>(functions_.size())};
      functions_.push_back(&f);
      for (const ptx::Variable& v : f.variables) {
        if (v.space == ptx::Space::kShared || v.space == ptx::Space::kGlobal || v.space == ptx::Space::kConst)
          add_variable(v);
      }
    } else if (std::uint32_t call = 0; find_system_call(f.name, &call) != nullptr) {
      entries.try_emplace(f.name, Names::Entry{Names::Kind::kSystemCall, call});
    }
  }
}

void CompiledProgram::decode_functions() {
  const Tables tables(kernels_);
  for (const ptx::Function* f : functions_) codes_.push_back(Decoder(*f, names_->names, tables).decode());
}

std::vector<bool> CompiledProgram::reachable_from(std::size_t code) const {
  std::vector<bool> seen(codes_.size(), false);
  std::vector<std::size_t> todo{code};
  const auto visit = [&](std::size_t k) {
    if (seen[k]) return;
    seen[k] = true;
    todo.push_back(k);
  };
  seen[code] = true;
  while (!todo.empty()) {
    const Code& c = codes_[todo.back()];
    todo.pop_back();
    for (const std::uint32_t callee : c.callees) visit(callee);
    if (!c.calls_indirectly) continue;
    // Whatever has an address may be called.
    for (std::size_t k = 0; k < codes_.size(); ++k) {
      if (!codes_[k].is_entry) visit(k);
    }
  }
  return seen;
}

void CompiledProgram::lay_out_shared(Entry& entry, const std::vector<bool>& reachable) {
  std::vector<bool> used(shared_.size(), false);
  for (std::size_t k = 0; k < codes_.size(); ++k) {
    for (const std::uint32_t v : codes_[k].shared_variables) used[v] = used[v] || reachable[k];
  }
  std::uint64_t at = 0;
  std::uint32_t dynamic_align = 1;
  entry.shared_offsets.assign(shared_.size(), 0);
  for (std::size_t v = 0; v < shared_.size(); ++v) {
    if (used[v] && shared_[v].dynamic) dynamic_align = std::max(dynamic_align, shared_[v].align);
    if (!used[v] || shared_[v].dynamic) continue;
    at = align_up(at, shared_[v].align);
    entry.shared_offsets[v] = static_cast<std::uint32_t>(at);
    at += shared_[v].size;
  }
  at = align_up(at, dynamic_align);
  for (std::size_t v = 0; v < shared_.size(); ++v) {
    if (shared_[v].dynamic) entry.shared_offsets[v] = static_cast<std::uint32_t>(at);
  }
  entry.static_shared = static_cast<std::uint32_t>(at);
}

void CompiledProgram::describe_entry(std::size_t code, const ptx::Function& function) {
  Entry entry;
  entry.code = code;
  const std::vector<bool> reachable = reachable_from(code);
  KernelInfo info;
  info.name = function.name;
  info.target = module_->target;
  std::uint32_t live = 0, deepest = 0;
  bool calls = false;
  for (std::size_t k = 0; k < codes_.size(); ++k) {
    if (!reachable[k]) continue;
    const Code& c = codes_[k];
    if (entry.error.empty()) entry.error = c.error;
    entry.needs_order |= c.needs_order;
    info.may_launch_or_print |= c.prints;
    live = std::max(live, c.live_registers);
    calls |= !c.callees.empty() || c.calls_indirectly;
    deepest = std::max(deepest, c.own_local_bytes);
  }
  lay_out_shared(entry, reachable);
  entry.local_bytes = calls ? kDeepStack : codes_[code].local_bytes;
  for (std::size_t p = 0; p < codes_[code].parameter_offsets.size(); ++p) {
    info.parameters.push_back({codes_[code].parameter_offsets[p], codes_[code].parameter_sizes[p]});
    info.parameter_bytes =
        std::max(info.parameter_bytes, info.parameters.back().offset + info.parameters.back().size);
  }
  info.static_shared_bytes = entry.static_shared;
  info.local_bytes = deepest;
  info.registers = std::min(255u, 16 + live);
  for (const GlobalInfo& g : global_infos_) {
    if (g.constant) info.constant_bytes += static_cast<std::uint32_t>(g.size);
  }
  const std::uint32_t limit =
      function.required_threads != 0 ? function.required_threads : function.max_threads;
  info.max_threads = limit != 0 ? std::min(limit, kMaxThreads) : kMaxThreads;
  kernel_infos_.push_back(std::move(info));
  entries_.push_back(std::move(entry));
}

void CompiledProgram::bind(std::span<const std::uint64_t> addresses) {
  addresses_.assign(addresses.begin(), addresses.end());
  for (std::size_t g = 0; g < relocations_.size(); ++g) {
    for (const ptx::Relocation& r : relocations_[g]) {
      const auto entry = names_->names.entries.find(r.symbol);
      if (entry == names_->names.entries.end() || r.offset + r.size > global_bytes_[g].size()) continue;
      const bool function = entry->second.kind == Names::Kind::kFunction;
      std::uint64_t value = function ? kFunctionWindow | std::uint64_t{entry->second.index} << 4
                            : entry->second.index < addresses_.size() ? addresses_[entry->second.index]
                                                                      : 0;
      value += static_cast<std::uint64_t>(r.addend);
      if (r.byte >= 0) value >>= 8 * r.byte;
      for (unsigned b = 0; b < r.size; ++b)
        global_bytes_[g][r.offset + b] = static_cast<std::uint8_t>(value >> (8 * b));
    }
  }
}

std::shared_ptr<Program> compile_with(std::string_view ptx, const Kernels& kernels, std::string* error) {
  const ptx::ParseResult parsed = ptx::parse(ptx);
  if (parsed.module) return std::make_shared<CompiledProgram>(*parsed.module, kernels);
  if (error != nullptr) *error = fmt::format("PTX line {}: {}", parsed.error.line, parsed.error.what);
  return nullptr;
}

}  // namespace softgpu::engine

namespace softgpu {

std::shared_ptr<Program> compile(std::string_view ptx, std::string* error) {
  return engine::compile_with(ptx, engine::kernels_here(), error);
}

}  // namespace softgpu
