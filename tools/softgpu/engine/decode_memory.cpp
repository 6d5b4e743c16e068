// ld, st, atom, red, cp.async, fences.
#include <fmt/format.h>

#include <algorithm>

#include "tools/softgpu/engine/atomic.hpp"
#include "tools/softgpu/engine/decoder.hpp"
#include "tools/softgpu/engine/handlers.hpp"

namespace softgpu::engine {

// What the modifiers of an access say.
struct Decoder::Access {
  std::string_view space = "generic";
  std::string_view type;
  std::string_view operation;
  int count = 1;
  bool ordered = false;
};

namespace {

constexpr std::string_view kSpaceNames[] = {"global", "shared", "shared::cta",  "local",
                                            "const",  "param",  "param::entry", "param::func"};
constexpr std::string_view kOrdering[] = {"volatile", "relaxed", "acquire", "release",
                                          "acq_rel",  "mmio",    "sc"};
// Caching, scope and prefetch hints change no result.
constexpr std::string_view kHints[] = {"ca",   "cg",  "cs",  "cv",  "lu",      "wb",  "wt",   "nc",
                                       "weak", "cta", "gpu", "sys", "cluster", "uni", "noftz"};

struct OperationRow {
  std::string_view name;
  AtomicOperation plain, when_signed;
};
constexpr OperationRow kOperations[] = {
    {"add", AtomicOperation::kAdd, AtomicOperation::kAdd},
    {"and", AtomicOperation::kAnd, AtomicOperation::kAnd},
    {"or", AtomicOperation::kOr, AtomicOperation::kOr},
    {"xor", AtomicOperation::kXor, AtomicOperation::kXor},
    {"exch", AtomicOperation::kExchange, AtomicOperation::kExchange},
    {"min", AtomicOperation::kMinUnsigned, AtomicOperation::kMinSigned},
    {"max", AtomicOperation::kMaxUnsigned, AtomicOperation::kMaxSigned},
    {"inc", AtomicOperation::kIncrement, AtomicOperation::kIncrement},
    {"dec", AtomicOperation::kDecrement, AtomicOperation::kDecrement},
    {"cas", AtomicOperation::kCompareAndSwap, AtomicOperation::kCompareAndSwap},
};
bool is_in(std::string_view what, const auto& list) {
  return std::ranges::find(list, what) != std::end(list);
}
bool is_hint(std::string_view m) {
  return is_in(m, kHints) || m.starts_with("L1::") || m.starts_with("L2::");
}

Window window_named(std::string_view space, bool is_entry) {
  if (space == "global" || space == "const") return Window::kGlobal;
  if (space.starts_with("shared")) return Window::kShared;
  if (space == "local") return Window::kLocal;
  if (space.starts_with("param")) return is_entry ? Window::kParam : Window::kLocal;
  return Window::kGeneric;
}

}  // namespace

Decoder::Access Decoder::access_of(const ptx::Instruction& in) {
  Access access;
  for (const std::string& m : in.modifiers) {
    if (is_in(m, kSpaceNames)) {
      access.space = m;
    } else if (is_in(m, kOrdering)) {
      access.ordered = true;
    } else if (m == "v2" || m == "v4") {
      access.count = m[1] - '0';
    } else if (type_bytes(m) != 0) {
      access.type = m;
    } else if (std::ranges::find(kOperations, m, &OperationRow::name) != std::end(kOperations)) {
      access.operation = m;
    } else if (!is_hint(m)) {
      refuse(fmt::format("the modifier .{}", m));
    }
  }
  if (access.type.empty()) refuse("no type that is known");
  return access;
}

// Accesses that other blocks may wait for or be ordered by.
void Decoder::order(const Access& access) {
  if (access.space != "global" && access.space != "generic") return;
  if (access.ordered) code_.needs_order = true;
}

void Decoder::address(const ptx::Operand& o, Window window, Instruction& in) {
  if (o.kind != ptx::Operand::Kind::kMemory) return refuse("an address is expected");
  in.window = window;
  in.displacement = o.symbol.empty() ? o.bits : 0;
  if (o.reg != ptx::kNoIndex) {
    in.a = o.reg;
    if (width_of(o.reg) < 4) refuse("an address of less than 32 bits");
    return;
  }
  ptx::Operand plain = o;
  plain.kind = o.symbol.empty() ? ptx::Operand::Kind::kImmediate : ptx::Operand::Kind::kSymbol;
  if (o.symbol.empty()) in.displacement = 0;
  in.a = source(plain, 8);
  if (code_.slots[in.a].kind == SlotKind::kLocal) in.window = Window::kLocal;
}

void Decoder::load(const ptx::Instruction& in) {
  const Access access = access_of(in);
  if (failed()) return;
  order(access);
  Instruction out;
  out.line = in.line;
  out.size = static_cast<std::uint8_t>(type_bytes(access.type));
  out.count = static_cast<std::uint8_t>(access.count);
  out.handler = handlers::load;
  address(operand(in, 1), window_named(access.space, code_.is_entry), out);
  if (failed()) return;
  if (out.window == Window::kParam && code_.slots[out.a].kind == SlotKind::kParam) {
    out.handler = handlers::load_parameter;
    out.displacement += code_.slots[out.a].value;
    out.a = kNoSlot;
  }
  const ptx::Operand& to = in.operands[0];
  const bool vector = to.kind == ptx::Operand::Kind::kVector;
  if (vector ? static_cast<int>(to.elements.size()) != access.count : access.count != 1)
    return refuse("a wrong number of elements");
  const auto element = [&](int k) -> const ptx::Operand& {
    return vector ? to.elements[static_cast<std::size_t>(k)] : to;
  };
  int width = 0;
  for (int k = 0; k < access.count; ++k) {
    if (element(k).kind != ptx::Operand::Kind::kRegister) continue;
    if (width != 0 && width_of(element(k).reg) != width) return refuse("elements of different widths");
    width = width_of(element(k).reg);
    out.elements[static_cast<std::size_t>(k)] = element(k).reg;
  }
  if (width == 0) width = std::max(type_bytes(access.type), 2);
  out.defines = 15;
  out.mover = tables_.kernels().load_mover(out.size, type_is_signed(access.type), width);
  if (out.mover == nullptr) return refuse("a register too narrow for the type");
  code_.instructions.push_back(out);
}

void Decoder::store(const ptx::Instruction& in) {
  const Access access = access_of(in);
  if (failed()) return;
  order(access);
  Instruction out;
  out.line = in.line;
  out.size = static_cast<std::uint8_t>(type_bytes(access.type));
  out.count = static_cast<std::uint8_t>(access.count);
  out.handler = handlers::store;
  // st.param writes arguments and results: they lie in local memory.
  const bool parameter = access.space.starts_with("param");
  address(operand(in, 0), parameter ? Window::kLocal : window_named(access.space, code_.is_entry), out);
  if (failed()) return;
  const ptx::Operand& from = operand(in, 1);
  const bool vector = from.kind == ptx::Operand::Kind::kVector;
  if (vector ? static_cast<int>(from.elements.size()) != access.count : access.count != 1)
    return refuse("a wrong number of elements");
  const int least = std::max(type_bytes(access.type), 2);
  int width = 0;
  for (int k = 0; k < access.count; ++k) {
    const ptx::Operand& e = vector ? from.elements[static_cast<std::size_t>(k)] : from;
    const bool wide = e.kind == ptx::Operand::Kind::kRegister && width_of(e.reg) > least;
    const SlotId s = source(e, wide ? width_of(e.reg) : least);
    if (width != 0 && width_of(s) != width) return refuse("elements of different widths");
    width = width_of(s);
    out.elements[static_cast<std::size_t>(k)] = s;
  }
  if (failed()) return;
  out.mover = tables_.kernels().store_mover(out.size, width);
  if (out.mover == nullptr) return refuse("a register too narrow for the type");
  code_.instructions.push_back(out);
}

// atom d, [a], b{, c};  red [a], b.
void Decoder::atomic(const ptx::Instruction& in) {
  const Access access = access_of(in);
  if (failed()) return;
  if (access.operation.empty() || access.count != 1) return refuse("no such operation");
  if (!access.space.starts_with("shared")) code_.needs_order = true;
  const int width = type_bytes(access.type);
  const std::size_t at = in.opcode == "red" ? 0 : 1;
  Instruction out;
  out.line = in.line;
  out.handler = handlers::atomic;
  out.size = static_cast<std::uint8_t>(width);
  const auto* row = std::ranges::find(kOperations, access.operation, &OperationRow::name);
  out.code = static_cast<std::uint8_t>(type_is_signed(access.type) ? row->when_signed : row->plain);
  if (type_is_float(access.type)) {
    const Row* adds = require_row(fmt::format("{}.{}", access.operation, access.type));
    if (adds == nullptr) return;
    out.code = static_cast<std::uint8_t>(AtomicOperation::kAddFloat);
    out.eval = adds->eval;
  }
  address(operand(in, at), window_named(access.space, code_.is_entry), out);
  out.b = source(operand(in, at + 1), width);
  if (access.operation == "cas") out.c = source(operand(in, at + 2), width);
  if (failed()) return;
  if (at == 1) {
    out.d = target(in.operands[0], width);
    if (in.operands[0].kind == ptx::Operand::Kind::kSink) out.d = kNoSlot;
  }
  code_.instructions.push_back(out);
  if (at == 1 && out.d != kNoSlot) finish_target(in.operands[0], out.d, false);
}

// cp.async copies at once; committing and waiting have nothing left to do.
void Decoder::copy_async(const ptx::Instruction& in) {
  if (in.modifiers.empty() || in.modifiers[0] != "async" || in.modifiers.size() < 2)
    return refuse("no such copy");
  const std::string& form = in.modifiers[1];
  if (form == "commit_group" || form == "wait_group" || form == "wait_all") return hint(in);
  if (form != "ca" && form != "cg") return refuse("no such copy");
  Instruction to, from;
  address(operand(in, 0), Window::kShared, to);
  address(operand(in, 1), Window::kGlobal, from);
  const ptx::Operand& bytes = operand(in, 2);
  if (failed()) return;
  const bool partial = in.operands.size() > 3 && in.operands[3].kind != ptx::Operand::Kind::kNone;
  if (bytes.kind != ptx::Operand::Kind::kImmediate ||
      (partial && in.operands[3].kind != ptx::Operand::Kind::kImmediate))
    return refuse("a size that is no constant");
  Instruction& out = emit(handlers::copy_async);
  out.window = Window::kShared;
  out.a = to.a;
  out.displacement = to.displacement;
  out.b = from.a;
  out.extra = static_cast<std::uint32_t>(from.displacement);
  out.size = 1;
  out.count = static_cast<std::uint8_t>(bytes.bits);
  out.code = static_cast<std::uint8_t>(partial ? bytes.bits - in.operands[3].bits : 0);
}

void Decoder::fence(const ptx::Instruction&) {
  code_.needs_order = true;
  emit(handlers::nothing);
}
void Decoder::hint(const ptx::Instruction&) { emit(handlers::nothing); }

}  // namespace softgpu::engine
