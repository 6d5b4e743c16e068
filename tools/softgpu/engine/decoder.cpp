#include "tools/softgpu/engine/decoder.hpp"

#include <fmt/format.h>

#include <array>

#include "tools/softgpu/engine/handlers.hpp"
#include "tools/softgpu/engine/segments.hpp"

namespace softgpu::engine {
namespace {

std::uint32_t align_up(std::uint64_t value, std::uint64_t to) {
  return static_cast<std::uint32_t>((value + to - 1) / to * to);
}

}  // namespace

Tables::Tables(const Kernels& k) : kernels_(k) {
  for (const Table<Row>& table :
       {k.integer, k.bits, k.floating, k.directed, k.half, k.convert, k.approximate}) {
    for (int i = 0; i < table.count; ++i) rows_.emplace(table.rows[i].key, table.rows + i);
  }
  for (int i = 0; i < k.compare.count; ++i) compares_.emplace(k.compare.rows[i].key, k.compare.rows + i);
}
const Row* Tables::row(std::string_view key) const {
  const auto at = rows_.find(key);
  return at == rows_.end() ? nullptr : at->second;
}
const CompareRow* Tables::compare(std::string_view key) const {
  const auto at = compares_.find(key);
  return at == compares_.end() ? nullptr : at->second;
}

int register_width(ptx::Type type) {
  switch (type) {
    case ptx::Type::kPred:
      return 0;
    case ptx::Type::kB8:
    case ptx::Type::kU8:
    case ptx::Type::kS8:
    case ptx::Type::kB16:
    case ptx::Type::kU16:
    case ptx::Type::kS16:
    case ptx::Type::kF16:
    case ptx::Type::kBf16:
      return 2;
    case ptx::Type::kB64:
    case ptx::Type::kU64:
    case ptx::Type::kS64:
    case ptx::Type::kF64:
      return 8;
    default:
      return 4;
  }
}
int type_bytes(std::string_view type) {
  // Leaked on purpose: at exit a program may be loading a module on another thread.
  static const auto& kBytes = *new std::unordered_map<std::string_view, int>{
      {"b8", 1},   {"u8", 1},  {"s8", 1},  {"b16", 2},   {"u16", 2},   {"s16", 2},  {"f16", 2},
      {"bf16", 2}, {"b32", 4}, {"u32", 4}, {"s32", 4},   {"f32", 4},   {"tf32", 4}, {"b64", 8},
      {"u64", 8},  {"s64", 8}, {"f64", 8}, {"f16x2", 4}, {"bf16x2", 4}};
  const auto at = kBytes.find(type);
  return at == kBytes.end() ? 0 : at->second;
}
bool type_is_signed(std::string_view type) { return type.starts_with("s"); }
bool type_is_float(std::string_view type) { return type.find('f') != std::string_view::npos; }

Decoder::Decoder(const ptx::Function& function, const Names& names, const Tables& tables)
    : function_(function), names_(names), tables_(tables) {
  code_.name = function.name;
  code_.is_entry = function.is_entry;
  for (const ptx::Register& r : function.registers) {
    code_.slots.push_back({SlotKind::kRegister, static_cast<std::uint8_t>(register_width(r.type)), 0, 0});
    if (r.type == ptx::Type::kB128)
      code_.error = fmt::format("{}: 128-bit registers are not supported", function.name);
  }
}

// Lays out the frame: what the function declares, its parameters and results.
void Decoder::number_variables() {
  std::uint64_t at = 0;
  const auto place = [&](const ptx::Variable& v) {
    at = align_up(at, std::max<std::uint64_t>(v.align, 1));
    const auto offset = static_cast<std::uint32_t>(at);
    locals_[v.name] = {v.space, offset, static_cast<std::uint32_t>(v.size)};
    at += v.size;
    return offset;
  };
  for (const ptx::Variable& v : function_.variables) {
    if (v.space == ptx::Space::kLocal) place(v);
  }
  code_.own_local_bytes = static_cast<std::uint32_t>(at);
  for (const ptx::Variable& v : function_.variables) {
    if (v.space == ptx::Space::kParam) place(v);
  }
  for (const ptx::Variable& v : function_.returns) {
    code_.result_offsets.push_back(place(v));
    code_.result_sizes.push_back(static_cast<std::uint32_t>(v.size));
  }
  const std::uint64_t before = at;
  if (function_.is_entry) at = 0;
  for (const ptx::Variable& v : function_.parameters) {
    if (v.space == ptx::Space::kReg) refuse("parameters in registers");
    code_.parameter_offsets.push_back(place(v));
    code_.parameter_sizes.push_back(static_cast<std::uint32_t>(v.size));
    if (function_.is_entry) locals_[v.name].space = ptx::Space::kConst;  // lies in the launch's buffer
  }
  code_.local_bytes = align_up(function_.is_entry ? before : at, 16);
}

Code Decoder::decode() {
  number_variables();
  is_target_.assign(function_.body.size() + 1, false);
  for (const ptx::Instruction& in : function_.body) {
    for (const ptx::Operand& o : in.operands) {
      if (o.kind == ptx::Operand::Kind::kLabel) is_target_[o.target] = true;
      for (const ptx::Operand& e : o.elements) {
        if (e.kind == ptx::Operand::Kind::kLabel) is_target_[e.target] = true;
      }
    }
  }
  for (std::size_t at = 0; at < function_.body.size() && !failed(); ++at) {
    places_.push_back(static_cast<std::uint32_t>(code_.instructions.size()));
    if (is_target_[at]) emit(handlers::join).weight = 0;
    decode_one(function_.body[at]);
  }
  places_.push_back(static_cast<std::uint32_t>(code_.instructions.size()));
  if (is_target_.back()) emit(handlers::join).weight = 0;
  emit(handlers::call_return).weight = 0;
  if (!failed()) settle_targets();
  if (failed()) return std::move(code_);
  count_registers(code_);
  share_slots(code_, mark_whole_writes(code_));
  find_liveness(code_);
  return std::move(code_);
}

void Decoder::decode_one(const ptx::Instruction& in) {
  current_ = &in;
  const Opcode* opcode = find_opcode(in.opcode);
  if (opcode == nullptr) return refuse("unknown instruction");
  const bool around = in.guard != ptx::kNoIndex && !opcode->masks && in.opcode != "bra";
  const std::size_t before = code_.instructions.size();
  if (around) {
    Instruction& skip = emit(handlers::branch);
    skip.guard = in.guard;
    skip.guard_negated = !in.guard_negated;
    skip.weight = 0;
  }
  const std::size_t first = code_.instructions.size();
  (this->*opcode->decode)(in);
  if (failed()) return;
  for (std::size_t k = first; k + 1 < code_.instructions.size(); ++k) code_.instructions[k].weight = 0;
  if (around) {
    // Marked as settled by its extra: see settle_targets.
    code_.instructions[before].target = static_cast<std::uint32_t>(code_.instructions.size());
    code_.instructions[before].extra = 1;
    emit(handlers::join).weight = 0;
  } else if (in.guard != ptx::kNoIndex && opcode->masks) {
    for (std::size_t k = first; k < code_.instructions.size(); ++k) {
      Instruction& guarded = code_.instructions[k];
      guarded.guarded = guarded.handler;
      guarded.handler = handlers::guard;
      guarded.guard = in.guard;
      guarded.guard_negated = in.guard_negated;
    }
  }
}

void Decoder::settle_targets() {
  for (Instruction& in : code_.instructions) {
    if (in.handler == handlers::branch && in.extra == 0) in.target = places_[in.target];
  }
  for (BranchTable& table : code_.tables) {
    for (std::uint32_t& target : table.targets) target = places_[target];
  }
}

void Decoder::refuse(std::string why) {
  if (failed()) return;
  std::string text = current_ == nullptr ? "" : current_->opcode;
  if (current_ != nullptr) {
    for (const std::string& m : current_->modifiers) text += "." + m;
  }
  code_.error = fmt::format("{}: PTX line {}: {}: {}", function_.name,
                            current_ == nullptr ? function_.line : current_->line, text, why);
}

SlotId Decoder::slot(const Slot& wanted) {
  const auto key = std::tuple{wanted.kind, int{wanted.width}, wanted.index, wanted.value};
  const auto known = known_slots_.find(key);
  if (known != known_slots_.end()) return known->second;
  code_.slots.push_back(wanted);
  const auto id = static_cast<SlotId>(code_.slots.size() - 1);
  known_slots_.emplace(key, id);
  return id;
}
SlotId Decoder::immediate(std::uint64_t value, int width) {
  if (width < 8) value &= (std::uint64_t{1} << (8 * width)) - 1;
  return slot({SlotKind::kImmediate, static_cast<std::uint8_t>(width), 0, static_cast<std::int64_t>(value)});
}
SlotId Decoder::temporary(int width) {
  code_.slots.push_back({SlotKind::kRegister, static_cast<std::uint8_t>(width), 0, 0});
  return static_cast<SlotId>(code_.slots.size() - 1);
}
SlotId Decoder::resized(SlotId id, int width, bool is_signed) {
  const int has = width_of(id);
  if (has == width || failed()) return id;
  if (has == 0 || width == 0) return refuse("a predicate where a value is expected"), id;
  const SlotId to = temporary(width);
  emit_row(fmt::format("{}.b{}.b{}",
                       has > width ? "low"
                       : is_signed ? "sign"
                                   : "zero",
                       8 * width, 8 * has),
           to, {id});
  return to;
}

SlotId Decoder::source(const ptx::Operand& o, int width) {
  switch (o.kind) {
    case ptx::Operand::Kind::kRegister:
      return resized(o.reg, width, false);
    case ptx::Operand::Kind::kImmediate: {
      auto bits = static_cast<std::uint64_t>(o.bits);
      if (o.is_float && o.is_double && width == 4)
        bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
      if (o.is_float && !o.is_double && width == 8)
        bits = std::bit_cast<std::uint64_t>(
            static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
      return immediate(bits, width);
    }
    case ptx::Operand::Kind::kSpecial:
      return resized(special(o.symbol), width, false);
    case ptx::Operand::Kind::kSymbol:
      return symbol(o, width);
    default:
      refuse("an operand of a kind that is not known here");
      return 0;
  }
}
SlotId Decoder::predicate(const ptx::Operand& o) {
  if (o.kind == ptx::Operand::Kind::kRegister && width_of(o.reg) == 0) return o.reg;
  refuse("a predicate is expected");
  return 0;
}
const ptx::Operand& Decoder::operand(const ptx::Instruction& in, std::size_t index) {
  static const ptx::Operand kMissing;
  if (index < in.operands.size()) return in.operands[index];
  refuse("too few operands");
  return kMissing;
}
SlotId Decoder::target(const ptx::Operand& o, int width) {
  if (o.kind == ptx::Operand::Kind::kRegister && width_of(o.reg) == width) return o.reg;
  if (o.kind != ptx::Operand::Kind::kRegister && o.kind != ptx::Operand::Kind::kSink)
    refuse("a register is expected");
  return temporary(width);
}
void Decoder::finish_target(const ptx::Operand& o, SlotId written, bool is_signed) {
  if (failed() || o.kind != ptx::Operand::Kind::kRegister || o.reg == written) return;
  const SlotId fitting = resized(written, width_of(o.reg), is_signed);
  if (!failed()) emit_row(fmt::format("mov.b{}", 8 * width_of(o.reg)), o.reg, {fitting});
}

SlotId Decoder::symbol(const ptx::Operand& o, int width) {
  const auto w = static_cast<std::uint8_t>(width);
  if (const auto local = locals_.find(o.symbol); local != locals_.end()) {
    const bool in_buffer = local->second.space == ptx::Space::kConst;
    return slot({in_buffer ? SlotKind::kParam : SlotKind::kLocal, w, 0, local->second.offset + o.bits});
  }
  const auto entry = names_.entries.find(o.symbol);
  if (entry == names_.entries.end()) return refuse(fmt::format("unknown name '{}'", o.symbol)), 0;
  const std::uint32_t index = entry->second.index;
  switch (entry->second.kind) {
    case Names::Kind::kGlobal:
      return slot({SlotKind::kGlobal, w, index, o.bits});
    case Names::Kind::kShared:
      code_.shared_variables.push_back(index);
      return slot({SlotKind::kShared, w, index, o.bits});
    case Names::Kind::kFunction:
      code_.takes_addresses = true;
      return slot({SlotKind::kFunction, w, index, 0});
    default:
      return refuse(fmt::format("the address of '{}'", o.symbol)), 0;
  }
}

SlotId Decoder::special(const std::string& name) {
  struct Named {
    std::string_view name;
    Special special;
  };
  static constexpr Named kNamed[] = {
      {"%tid.x", Special::kTidX},
      {"%tid.y", Special::kTidY},
      {"%tid.z", Special::kTidZ},
      {"%ntid.x", Special::kNtidX},
      {"%ntid.y", Special::kNtidY},
      {"%ntid.z", Special::kNtidZ},
      {"%ctaid.x", Special::kCtaidX},
      {"%ctaid.y", Special::kCtaidY},
      {"%ctaid.z", Special::kCtaidZ},
      {"%nctaid.x", Special::kNctaidX},
      {"%nctaid.y", Special::kNctaidY},
      {"%nctaid.z", Special::kNctaidZ},
      {"%laneid", Special::kLaneid},
      {"%warpid", Special::kWarpid},
      {"%nwarpid", Special::kNwarpid},
      {"%smid", Special::kSmid},
      {"%nsmid", Special::kNsmid},
      {"%gridid", Special::kGridid},
      {"%lanemask_eq", Special::kLanemaskEq},
      {"%lanemask_le", Special::kLanemaskLe},
      {"%lanemask_lt", Special::kLanemaskLt},
      {"%lanemask_ge", Special::kLanemaskGe},
      {"%lanemask_gt", Special::kLanemaskGt},
      {"%envreg1", Special::kEnvreg1},
      {"%envreg2", Special::kEnvreg2},
      {"%dynamic_smem_size", Special::kDynamicShared},
      {"%total_smem_size", Special::kTotalShared},
      {"%cluster_ctarank", Special::kZero},
      {"%cluster_nctarank", Special::kOne},
      {"%is_explicit_cluster", Special::kZero},
  };
  if (name == "WARP_SZ") return immediate(kWarpLanes, 4);
  for (const Named& row : kNamed) {
    if (row.name == name) return slot({SlotKind::kSpecial, 4, static_cast<std::uint32_t>(row.special), 0});
  }
  const bool timer = name.starts_with("%globaltimer");
  if (!timer && !name.starts_with("%clock")) return refuse(fmt::format("special register {}", name)), 0;
  const bool wide = name == "%clock64" || name == "%globaltimer";
  const SlotId to = temporary(wide ? 8 : 4);
  Instruction& in = emit(handlers::clock);
  in.d = to;
  in.code = timer ? 1 : 0;
  in.flag = name.ends_with("_hi");
  if (timer) code_.needs_order = true;
  return to;
}

Instruction& Decoder::emit(Handler handler) {
  Instruction& in = code_.instructions.emplace_back();
  in.handler = handler;
  in.line = current_ == nullptr ? 0 : current_->line;
  return in;
}
const Row* Decoder::require_row(const std::string& key) {
  const Row* row = tables_.row(key);
  if (row == nullptr) refuse(fmt::format("no such operation ({})", key));
  return row;
}
Instruction& Decoder::emit_row(std::string_view key, SlotId d, std::initializer_list<SlotId> sources) {
  static constexpr std::array<Handler, 4> kByCount{nullptr, handlers::unary, handlers::binary,
                                                   handlers::ternary};
  const Row* row = require_row(std::string(key));
  Instruction& in = emit(handlers::nothing);
  if (row == nullptr) return in;
  in.handler = row->affine != Affine::kNone ? handlers::affine : kByCount[sources.size()];
  in.eval = row->eval;
  in.affine = row->affine;
  std::copy(std::begin(row->width), std::end(row->width), std::begin(in.widths));
  in.d = d;
  SlotId* fields[] = {&in.a, &in.b, &in.c};
  std::size_t k = 0;
  for (const SlotId s : sources) {
    if (width_of(s) != row->width[k + 1]) refuse("an operand's width does not fit");
    *fields[k++] = s;
  }
  return in;
}

}  // namespace softgpu::engine
