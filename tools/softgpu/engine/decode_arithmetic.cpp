// Instructions that compute each lane from its own registers: one row of the tables each, or a few.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/softgpu/engine/decoder.hpp"
#include "tools/softgpu/engine/handlers.hpp"

namespace softgpu::engine {
namespace {

// Modifiers that do not change a result here: the default rounding, the exact form of what may be
// approximate, the low half of a product.
bool has_no_effect(std::string_view modifier) {
  return modifier == "rn" || modifier == "approx" || modifier == "full" || modifier == "lo";
}
std::string join(std::string text, const std::vector<std::string>& modifiers) {
  for (const std::string& m : modifiers) {
    if (!has_no_effect(m)) text += "." + m;
  }
  return text;
}
bool has(const ptx::Instruction& in, std::string_view modifier) {
  return std::ranges::find(in.modifiers, modifier) != in.modifiers.end();
}
std::string_view type_of(const ptx::Instruction& in) {
  return in.modifiers.empty() ? std::string_view() : std::string_view(in.modifiers.back());
}

}  // namespace

void Decoder::arithmetic(const ptx::Instruction& in) {
  if (has(in, "cc")) return carry(in);
  const Row* row = require_row(join(in.opcode, in.modifiers));
  if (row == nullptr) return;
  std::array<SlotId, 3> sources{};
  std::size_t count = 0;
  for (; count < 3 && row->width[count + 1] != 0; ++count) {
    sources[count] = source(operand(in, count + 1), row->width[count + 1]);
  }
  if (in.operands.size() != count + 1) return refuse("a wrong number of operands");
  const SlotId to = target(in.operands[0], row->width[0]);
  if (failed()) return;
  if (count == 1) emit_row(row->key, to, {sources[0]});
  if (count == 2) {
    Instruction& out = emit_row(row->key, to, {sources[0], sources[1]});
    static constexpr std::string_view kSpaced[] = {"and", "div", "max", "min", "rem", "shr"};
    const bool spaced = std::ranges::find(kSpaced, in.opcode) != std::end(kSpaced);
    if (spaced && !type_is_float(type_of(in))) out.handler = handlers::recognise;
  }
  if (count == 3) emit_row(row->key, to, {sources[0], sources[1], sources[2]});
  finish_target(in.operands[0], to, type_is_signed(type_of(in)));
}

// bfe d, a, position, length;  bfi d, a, b, position, length.
void Decoder::bit_field(const ptx::Instruction& in) {
  const bool inserts = in.opcode == "bfi";
  const std::size_t at = inserts ? 3 : 2;
  const SlotId position = source(operand(in, at), 4), length = source(operand(in, at + 1), 4);
  const int width = type_bytes(type_of(in));
  const SlotId a = source(operand(in, 1), width);
  const SlotId b = inserts ? source(operand(in, 2), width) : kNoSlot;
  if (failed()) return;
  const SlotId control = temporary(4);
  emit_row("control", control, {position, length});
  const SlotId to = target(in.operands[0], width);
  const std::string key = join(in.opcode, in.modifiers);
  if (inserts) emit_row(key, to, {a, b, control});
  if (!inserts) emit_row(key, to, {a, control});
  finish_target(in.operands[0], to, false);
}

// lop3: the or of the minterms that its table names.
void Decoder::lookup(const ptx::Instruction& in) {
  if (in.operands.size() != 5 || !has(in, "b32")) return refuse("only lop3.b32 with a table is supported");
  const SlotId x[] = {source(in.operands[1], 4), source(in.operands[2], 4), source(in.operands[3], 4)};
  const SlotId to = target(in.operands[0], 4);
  if (failed()) return;
  SlotId inverse[3];
  for (int k = 0; k < 3; ++k) emit_row("not.b32", inverse[k] = temporary(4), {x[k]});
  const SlotId sum = temporary(4), term = temporary(4);
  emit_row("mov.b32", sum, {immediate(0, 4)});
  for (unsigned row = 0; row < 8; ++row) {
    if ((in.operands[4].bits >> row & 1) == 0) continue;
    emit_row("and.b32", term, {(row & 4) != 0 ? x[0] : inverse[0], (row & 2) != 0 ? x[1] : inverse[1]});
    emit_row("and.b32", term, {term, (row & 1) != 0 ? x[2] : inverse[2]});
    emit_row("or.b32", sum, {sum, term});
  }
  emit_row("mov.b32", to, {sum});
  finish_target(in.operands[0], to, false);
}

// add.cc, addc, sub.cc, subc, mad.cc, madc: the condition code is a register of its own.
void Decoder::carry(const ptx::Instruction& in) {
  const int width = type_bytes(type_of(in));
  if (width != 4 && width != 8) return refuse("a carry of this width");
  if (carry_slot_ == kNoSlot) carry_slot_ = temporary(4);
  const bool multiplies = in.opcode.starts_with("mad"), subtracts = in.opcode.starts_with("sub");
  const std::string type = width == 4 ? "u32" : "u64";
  SlotId x = source(operand(in, 1), width), y = source(operand(in, 2), width);
  if (failed()) return;
  if (multiplies) {
    const SlotId product = temporary(width);
    const std::string sign = type_is_signed(type_of(in)) ? "s" : "u";
    emit_row(has(in, "hi") ? "mul.hi." + sign + type.substr(1) : "mul." + type, product, {x, y});
    x = product;
    y = source(operand(in, 3), width);
  }
  const SlotId carried = in.opcode.ends_with("c") ? carry_slot_ : immediate(0, 4);
  const SlotId next = temporary(4);
  if (has(in, "cc")) emit_row((subtracts ? "borrow." : "carry.") + type, next, {x, y, carried});
  const SlotId to = target(in.operands[0], width);
  emit_row((subtracts ? "difference." : "sum.") + type, to, {x, y, carried});
  finish_target(in.operands[0], to, false);
  if (has(in, "cc")) emit_row("mov.b32", carry_slot_, {next});
}

void Decoder::convert(const ptx::Instruction& in) {
  if (in.modifiers.size() < 2) return refuse("two types are expected");
  const std::string& to_type = in.modifiers[in.modifiers.size() - 2];
  std::string key = join("cvt", in.modifiers);
  const auto drop = [&](std::string_view part) {
    const std::size_t at = key.find(part);
    if (tables_.row(key) == nullptr && at != std::string::npos) key.erase(at, part.size());
  };
  // To an integer, saturation is implied and flushing rarely matters.
  if (!type_is_float(to_type)) drop(".sat");
  drop(".ftz");
  drop(".satfinite");
  const Row* row = require_row(key);
  if (row == nullptr) return;
  const SlotId a = source(operand(in, 1), row->width[1]);
  const SlotId b = row->width[2] != 0 ? source(operand(in, 2), row->width[2]) : kNoSlot;
  if (failed()) return;
  const SlotId to = target(in.operands[0], row->width[0]);
  // Plain changes of integer width keep base and stride.
  const int wide = type_bytes(to_type), from = type_bytes(in.modifiers.back());
  const bool plain = in.modifiers.size() == 2 && !type_is_float(to_type) &&
                     !type_is_float(in.modifiers.back()) && from >= 2 && wide >= 2;
  if (plain)
    key = wide == from ? fmt::format("mov.b{}", 8 * wide)
                       : fmt::format("{}.b{}.b{}",
                                     wide < from                           ? "low"
                                     : type_is_signed(in.modifiers.back()) ? "sign"
                                                                           : "zero",
                                     8 * wide, 8 * from);
  if (b == kNoSlot) emit_row(key, to, {a});
  if (b != kNoSlot) emit_row(key, to, {a, b});
  finish_target(in.operands[0], to, type_is_signed(to_type));
}

void Decoder::set_predicate(const ptx::Instruction& in) {
  std::size_t next = 1;
  const bool paired = in.operands.size() > 1 && in.operands[1].paired;
  if (paired) ++next;
  static constexpr std::string_view kCombine[] = {"", "and", "or", "xor"};
  std::vector<std::string> modifiers = in.modifiers;
  int combine = 0;
  for (int k = 1; k < 4; ++k) {
    const auto at = std::ranges::find(modifiers, kCombine[k]);
    if (at == modifiers.end()) continue;
    combine = k;
    modifiers.erase(at);
  }
  std::string key;
  for (const std::string& m : modifiers) key += (key.empty() ? "" : ".") + m;
  const CompareRow* row = tables_.compare(key);
  if (row == nullptr) return refuse("no such comparison");
  const SlotId a = source(operand(in, next), row->width), b = source(operand(in, next + 1), row->width);
  const SlotId c = combine != 0 ? predicate(operand(in, next + 2)) : kNoSlot;
  if (failed()) return;
  Instruction& out = emit(handlers::compare);
  out.compare = row->compare;
  out.a = a;
  out.b = b;
  out.c = c;
  out.code = static_cast<std::uint8_t>(combine);
  out.flag = combine != 0 && in.operands[next + 2].negated;
  const auto written = [&](const ptx::Operand& o) {
    return o.kind == ptx::Operand::Kind::kSink ? kNoSlot : predicate(o);
  };
  out.d = written(in.operands[0]);
  if (paired) out.elements[0] = written(in.operands[1]);
  out.defines = 1;
}

// set.cmp.dtype.stype: pairs of halves by a row, others through a predicate.
void Decoder::set(const ptx::Instruction& in) {
  std::vector<std::string> modifiers = in.modifiers;
  std::erase(modifiers, "ftz");
  if (tables_.row(join("set", modifiers)) != nullptr) {
    ptx::Instruction plain = in;
    plain.modifiers = modifiers;
    return arithmetic(plain);
  }
  if (modifiers.size() < 3) return refuse("two types are expected");
  const std::string to_type = in.modifiers[in.modifiers.size() - 2];
  ptx::Instruction comparison = in;
  comparison.modifiers.erase(comparison.modifiers.end() - 2);
  const SlotId p = temporary(0);
  comparison.operands[0] = {};
  comparison.operands[0].kind = ptx::Operand::Kind::kRegister;
  comparison.operands[0].reg = p;
  set_predicate(comparison);
  if (failed()) return;
  const int width = type_bytes(to_type) < 2 ? 4 : type_bytes(to_type);
  const std::uint64_t one = to_type == "f32"    ? 0x3f800000u
                            : to_type == "f16"  ? 0x3c00u
                            : to_type == "bf16" ? 0x3f80u
                                                : ~std::uint64_t{0};
  const SlotId to = target(in.operands[0], width);
  Instruction& out = emit(handlers::select);
  out.d = to;
  out.a = immediate(one, width);
  out.b = immediate(0, width);
  out.c = p;
  finish_target(in.operands[0], to, false);
}

void Decoder::select(const ptx::Instruction& in) {
  const int width = type_bytes(type_of(in));
  if (width < 2) return refuse("no such type");
  const SlotId a = source(operand(in, 1), width), b = source(operand(in, 2), width),
               c = predicate(operand(in, 3));
  const SlotId to = target(operand(in, 0), width);
  if (failed()) return;
  Instruction& out = emit(handlers::select);
  out.d = to;
  out.a = a;
  out.b = b;
  out.c = c;
  out.flag = in.operands[3].negated;
  finish_target(in.operands[0], to, false);
}

// and, or, xor, not: of predicates by masks, else by rows.
void Decoder::logic(const ptx::Instruction& in) {
  if (type_of(in) != "pred") return arithmetic(in);
  static constexpr std::string_view kOperations[] = {"mov", "and", "or", "xor", "not"};
  const auto at = std::ranges::find(kOperations, in.opcode);
  const SlotId d = predicate(operand(in, 0)), a = predicate(operand(in, 1));
  const bool two = at - kOperations >= 1 && at - kOperations <= 3;
  const SlotId b = two ? predicate(operand(in, 2)) : kNoSlot;
  if (failed()) return;
  Instruction& out = emit(handlers::logic);
  out.code = static_cast<std::uint8_t>(at - kOperations);
  out.d = d;
  out.a = a;
  out.b = b;
  out.is_signed = in.operands[1].negated;
  out.flag = two && in.operands[2].negated;
}

}  // namespace softgpu::engine
