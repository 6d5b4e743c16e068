// What lanes do together: shfl, vote, match, redux, activemask, bar.
#include <fmt/format.h>

#include <algorithm>

#include "tools/softgpu/engine/decoder.hpp"
#include "tools/softgpu/engine/handlers.hpp"
#include "tools/softgpu/engine/warp.hpp"

namespace softgpu::engine {
namespace {

bool has(const ptx::Instruction& in, std::string_view modifier) {
  return std::ranges::find(in.modifiers, modifier) != in.modifiers.end();
}
// The position of the modifier that is in the list, or -1.
int chosen(const ptx::Instruction& in, std::initializer_list<std::string_view> names) {
  int k = 0;
  for (const std::string_view name : names) {
    if (has(in, name)) return k;
    ++k;
  }
  return -1;
}

}  // namespace

void Decoder::shuffle(const ptx::Instruction& in) {
  const int mode = chosen(in, {"up", "down", "bfly", "idx"});
  const bool paired = in.operands.size() > 1 && in.operands[1].paired;
  const std::size_t at = paired ? 2 : 1;
  if (mode < 0 || !has(in, "sync")) return refuse("only shfl.sync is supported");
  const SlotId a = source(operand(in, at), 4), b = source(operand(in, at + 1), 4),
               c = source(operand(in, at + 2), 4), members = source(operand(in, at + 3), 4);
  const SlotId to = target(operand(in, 0), 4);
  if (failed()) return;
  Instruction& out = emit(handlers::shuffle);
  out.code = static_cast<std::uint8_t>(mode);
  out.d = to;
  out.a = a;
  out.b = b;
  out.c = c;
  out.elements[1] = members;
  if (paired && in.operands[1].kind == ptx::Operand::Kind::kRegister)
    out.elements[0] = predicate(in.operands[1]);
  out.defines = 1;
  finish_target(in.operands[0], to, false);
}

void Decoder::vote(const ptx::Instruction& in) {
  const int mode = chosen(in, {"all", "any", "uni", "ballot"});
  if (mode < 0 || !has(in, "sync")) return refuse("only vote.sync is supported");
  const bool ballot = mode == static_cast<int>(VoteMode::kBallot);
  const SlotId a = predicate(operand(in, 1)), members = source(operand(in, 2), 4);
  const SlotId to = ballot ? target(operand(in, 0), 4) : predicate(operand(in, 0));
  if (failed()) return;
  Instruction& out = emit(handlers::vote);
  out.code = static_cast<std::uint8_t>(mode);
  out.d = to;
  out.a = a;
  out.b = members;
  out.flag = in.operands[1].negated;
  if (ballot) finish_target(in.operands[0], to, false);
}

void Decoder::match(const ptx::Instruction& in) {
  const bool paired = in.operands.size() > 1 && in.operands[1].paired;
  const std::size_t at = paired ? 2 : 1;
  const int width = has(in, "b64") ? 8 : 4;
  const SlotId a = source(operand(in, at), width), members = source(operand(in, at + 1), 4);
  const SlotId to = target(operand(in, 0), 4);
  if (failed()) return;
  Instruction& out = emit(handlers::match);
  out.d = to;
  out.a = a;
  out.b = members;
  out.flag = has(in, "all");
  if (paired && in.operands[1].kind == ptx::Operand::Kind::kRegister)
    out.elements[0] = predicate(in.operands[1]);
  out.defines = 1;
  finish_target(in.operands[0], to, false);
}

void Decoder::reduce(const ptx::Instruction& in) {
  const bool is_signed = has(in, "s32");
  const int operation =
      chosen(in, {"add", "min", "max", is_signed ? "min" : "", is_signed ? "max" : "", "and", "or", "xor"});
  if (operation < 0 || has(in, "f32")) return refuse("no such operation");
  const SlotId a = source(operand(in, 1), 4), members = source(operand(in, 2), 4),
               to = target(operand(in, 0), 4);
  if (failed()) return;
  Instruction& out = emit(handlers::reduce);
  const bool extreme = operation == 1 || operation == 2;
  out.code = static_cast<std::uint8_t>(operation + (extreme && is_signed ? 2 : 0));
  out.d = to;
  out.a = a;
  out.b = members;
  finish_target(in.operands[0], to, false);
}

void Decoder::active_mask(const ptx::Instruction& in) {
  const SlotId to = target(operand(in, 0), 4);
  if (failed()) return;
  emit(handlers::active_mask).d = to;
  finish_target(in.operands[0], to, false);
}

// bar.sync a{, b};  bar.arrive a, b;  bar.red.op d, a{, b}, p;  bar.warp.sync members.
void Decoder::barrier(const ptx::Instruction& in) {
  if (has(in, "warp")) {
    const SlotId members = source(operand(in, 0), 4);
    if (!failed()) emit(handlers::warp_barrier).a = members;
    return;
  }
  const bool reduces = has(in, "red");
  const std::size_t at = reduces ? 1 : 0, count = in.operands.size() - (reduces ? 2 : 0);
  const int operation = reduces ? chosen(in, {"", "popc", "and", "or"}) : 0;
  if (operation < 0 || count < 1 || count > 2 || in.operands.size() < at + 1)
    return refuse("no such barrier");
  const SlotId id = source(operand(in, at), 4),
               threads = count == 2 ? source(operand(in, at + 1), 4) : kNoSlot;
  const SlotId p = reduces ? predicate(in.operands.back()) : kNoSlot;
  const SlotId to = !reduces         ? kNoSlot
                    : operation == 1 ? target(in.operands[0], 4)
                                     : predicate(in.operands[0]);
  if (failed()) return;
  Instruction& out = emit(handlers::barrier);
  out.a = id;
  out.b = threads;
  out.c = p;
  out.d = to;
  out.code = static_cast<std::uint8_t>(operation);
  out.is_signed = reduces && in.operands.back().negated;
  out.flag = has(in, "arrive");
  if (operation == 1) finish_target(in.operands[0], to, false);
}

}  // namespace softgpu::engine
