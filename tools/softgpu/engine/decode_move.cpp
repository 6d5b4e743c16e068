// mov with its vectors and addresses, cvta, isspacep.
#include <fmt/format.h>

#include <algorithm>

#include "tools/softgpu/engine/decoder.hpp"
#include "tools/softgpu/engine/handlers.hpp"

namespace softgpu::engine {

void Decoder::move(const ptx::Instruction& in) {
  const std::string_view type =
      in.modifiers.empty() ? std::string_view() : std::string_view(in.modifiers.back());
  if (type == "pred") {
    const ptx::Operand& from = operand(in, 1);
    if (from.kind != ptx::Operand::Kind::kImmediate) return logic(in);
    Instruction& out = emit(handlers::logic);  // p and not p, or p or not p
    out.d = out.a = out.b = predicate(operand(in, 0));
    out.code = from.bits != 0 ? 2 : 1;
    out.flag = true;
    return;
  }
  const int width = type_bytes(type);
  if (width < 2 || in.operands.size() != 2) return refuse("no such move");
  if (in.operands[1].kind == ptx::Operand::Kind::kVector)
    return pack_vector(in.operands[0], in.operands[1], width);
  if (in.operands[0].kind == ptx::Operand::Kind::kVector)
    return unpack_vector(in.operands[0], in.operands[1], width);
  const SlotId from = source(in.operands[1], width);
  const SlotId to = target(in.operands[0], width);
  if (failed()) return;
  emit_row(fmt::format("mov.b{}", 8 * width), to, {from});
  finish_target(in.operands[0], to, false);
}

// mov.b32 %r, {%rs1, %rs2} and wider; of four elements by pairs.
void Decoder::pack_vector(const ptx::Operand& to, const ptx::Operand& from, int width) {
  const auto count = static_cast<int>(from.elements.size());
  if ((count != 2 && count != 4) || width / count < 1) return refuse("a vector of this length");
  std::vector<SlotId> parts;
  const int part = width / count;
  for (const ptx::Operand& e : from.elements) {
    parts.push_back(e.kind == ptx::Operand::Kind::kSink ? immediate(0, std::max(part, 2))
                                                        : source(e, std::max(part, 2)));
  }
  if (failed()) return;
  for (int size = part; parts.size() > 1; size *= 2) {
    std::vector<SlotId> wider;
    for (std::size_t k = 0; k + 1 < parts.size(); k += 2) {
      const bool last = parts.size() == 2;
      wider.push_back(last ? target(to, width) : temporary(2 * size));
      emit_row(fmt::format("pack.b{}.b{}", 16 * size, 8 * size), wider.back(), {parts[k], parts[k + 1]});
    }
    parts = wider;
  }
  finish_target(to, parts[0], false);
}

void Decoder::unpack_vector(const ptx::Operand& to, const ptx::Operand& from, int width) {
  const auto count = static_cast<int>(to.elements.size());
  if ((count != 2 && count != 4) || width / count < 1) return refuse("a vector of this length");
  SlotId whole = source(from, width);
  if (failed()) return;
  // The source may be one of the targets: split a copy.
  const SlotId copy = temporary(width);
  emit_row(fmt::format("mov.b{}", 8 * width), copy, {whole});
  std::vector<SlotId> parts{copy};
  for (int size = width; static_cast<int>(parts.size()) < count; size /= 2) {
    std::vector<SlotId> narrower;
    for (const SlotId p : parts) {
      const SlotId low = temporary(std::max(size / 2, 2)), high = temporary(std::max(size / 2, 2));
      const bool to_bytes = size == 2;
      emit_row(to_bytes ? "byte.b16" : fmt::format("low.b{}.b{}", 4 * size, 8 * size), low, {p});
      emit_row(to_bytes ? "high.b8.b16" : fmt::format("high.b{}.b{}", 4 * size, 8 * size), high, {p});
      narrower.push_back(low);
      narrower.push_back(high);
    }
    parts = narrower;
  }
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (to.elements[k].kind != ptx::Operand::Kind::kSink) finish_target(to.elements[k], parts[k], false);
  }
}

namespace {

struct SpaceRow {
  std::string_view name;
  Window window;
  std::uint64_t base;
};
constexpr SpaceRow kSpaces[] = {
    {"global", Window::kGlobal, 0},
    {"const", Window::kGlobal, 0},
    {"shared", Window::kShared, kSharedWindow},
    {"shared::cta", Window::kShared, kSharedWindow},
    {"local", Window::kLocal, kLocalWindow},
    {"param", Window::kParam, kParamWindow},
};
const SpaceRow* space_named_in(const ptx::Instruction& in) {
  for (const std::string& m : in.modifiers) {
    const auto* at = std::ranges::find(kSpaces, m, &SpaceRow::name);
    if (at != std::end(kSpaces)) return at;
  }
  return nullptr;
}

}  // namespace

void Decoder::convert_address(const ptx::Instruction& in) {
  const SpaceRow* space = space_named_in(in);
  const bool from_generic = std::ranges::find(in.modifiers, "to") != in.modifiers.end();
  if (space == nullptr || in.modifiers.back() != "u64") return refuse("no such address space or width");
  // A device function's parameters lie in its local memory.
  const std::uint64_t base = space->window == Window::kParam && !code_.is_entry ? kLocalWindow : space->base;
  const SlotId from = source(operand(in, 1), 8);
  const SlotId to = target(operand(in, 0), 8);
  if (failed()) return;
  if (base == 0) emit_row("mov.b64", to, {from});
  if (base != 0) emit_row(from_generic ? "sub.u64" : "add.u64", to, {from, immediate(base, 8)});
  finish_target(in.operands[0], to, false);
}

void Decoder::test_space(const ptx::Instruction& in) {
  const SpaceRow* space = space_named_in(in);
  if (space == nullptr) return refuse("no such address space");
  const SlotId d = predicate(operand(in, 0)), a = source(operand(in, 1), 8);
  if (failed()) return;
  Instruction& out = emit(handlers::space_test);
  out.d = d;
  out.a = a;
  out.code = static_cast<std::uint8_t>(space->window);
}

}  // namespace softgpu::engine
