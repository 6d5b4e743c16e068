// Branches, calls, ends.
#include <fmt/format.h>

#include "tools/softgpu/engine/decoder.hpp"
#include "tools/softgpu/engine/handlers.hpp"

namespace softgpu::engine {

void Decoder::branch(const ptx::Instruction& in) {
  const ptx::Operand& to = operand(in, 0);
  if (to.kind != ptx::Operand::Kind::kLabel) return refuse("a label is expected");
  Instruction& out = emit(handlers::branch);
  out.target = to.target;
  if (in.guard == ptx::kNoIndex) return;
  out.guard = in.guard;
  out.guard_negated = in.guard_negated;
}

void Decoder::branch_indexed(const ptx::Instruction& in) {
  const SlotId index = source(operand(in, 0), 4);
  BranchTable table;
  for (const ptx::Operand& label : operand(in, 1).elements) table.targets.push_back(label.target);
  if (failed()) return;
  Instruction& out = emit(handlers::branch_indexed);
  out.a = index;
  out.extra = static_cast<std::uint32_t>(code_.tables.size());
  code_.tables.push_back(std::move(table));
}

// call (results), callee, (arguments){, prototype or table}.
void Decoder::call(const ptx::Instruction& in) {
  CallSite site;
  const auto note = [&](const ptx::Operand& list, std::vector<std::uint32_t>& offsets) {
    for (const ptx::Operand& e : list.elements) {
      const auto local = locals_.find(e.symbol);
      if (e.kind != ptx::Operand::Kind::kSymbol || local == locals_.end())
        return refuse("an argument that is no .param variable");
      offsets.push_back(local->second.offset);
    }
  };
  note(operand(in, 0), site.result_offsets);
  note(operand(in, 2), site.argument_offsets);
  if (failed()) return;
  code_.calls.push_back(std::move(site));
  call_function(in, in.operands[1], static_cast<std::uint32_t>(code_.calls.size() - 1));
}

void Decoder::call_function(const ptx::Instruction&, const ptx::Operand& callee, std::uint32_t site) {
  if (callee.kind == ptx::Operand::Kind::kRegister) {
    code_.calls_indirectly = true;
    Instruction& out = emit(handlers::call_indirect);
    out.a = callee.reg;
    out.extra = site;
    return;
  }
  const auto entry = names_.entries.find(callee.symbol);
  if (entry == names_.entries.end()) return refuse(fmt::format("unknown function '{}'", callee.symbol));
  if (entry->second.kind == Names::Kind::kSystemCall) return system_call(entry->second.index, site);
  if (entry->second.kind != Names::Kind::kFunction)
    return refuse(fmt::format("'{}' is no function", callee.symbol));
  Instruction& out = emit(handlers::call);
  out.target = entry->second.index;
  out.extra = site;
  code_.callees.push_back(entry->second.index);
}

void Decoder::system_call(std::uint32_t which, std::uint32_t site) {
  const SystemCall& call = system_call_at(which);
  Instruction& out = emit(call.handler);
  out.extra = site;
  code_.prints = true;
  code_.needs_order = true;
}

void Decoder::leave(const ptx::Instruction& in) {
  emit(in.opcode == "exit" ? handlers::exit : handlers::call_return);
}
void Decoder::trap(const ptx::Instruction&) { emit(handlers::trap); }
void Decoder::pause(const ptx::Instruction&) { emit(handlers::pause); }

}  // namespace softgpu::engine
