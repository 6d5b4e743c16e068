// Guards, comparisons and what works on predicates.
#include "tools/softgpu/engine/handlers.hpp"
#include "tools/softgpu/engine/state.hpp"

namespace softgpu::engine {

void narrow_to(Pack& pack, const Mask& mask) {
  pack.mask = mask;
  pack.lanes = static_cast<std::uint32_t>(mask.count());
  pack.full = mask == pack.frame->lanes;
  pack.first_half = 0;
  pack.last_half = pack.halves;
  while (pack.first_half < pack.last_half && mask.halves[pack.first_half] == 0) ++pack.first_half;
  while (pack.last_half > pack.first_half && mask.halves[pack.last_half - 1] == 0) --pack.last_half;
}

namespace handlers {
namespace {

Mask inverted(const Mask& mask) {
  return combine(mask, mask, [](std::uint64_t x, std::uint64_t) { return ~x; });
}
Mask logic_of(int code, const Mask& a, const Mask& b) {
  switch (code) {
    case 1:
      return a & b;
    case 2:
      return a | b;
    case 3:
      return combine(a, b, [](std::uint64_t x, std::uint64_t y) { return x ^ y; });
    default:
      return a;
  }
}
Mask compare_lanes(Pack& pack, const Instruction& i, Register& a, Register& b) {
  Mask result;
  if (pack.scalars && a.is_uniform() && b.is_uniform()) {
    std::uint16_t bits = 0;
    i.compare(&bits, a.base, b.base, 1);
    for (int h = 0; h < kHalves; ++h) result.halves[h] = (bits >> h & 1) != 0 ? 0xffff : 0;
    return result;
  }
  const std::size_t skip = static_cast<std::size_t>(pack.first_half) * kHalfLanes << a.log2_width;
  i.compare(result.halves + pack.first_half, static_cast<const char*>(vector_of(pack, a)) + skip,
            static_cast<const char*>(vector_of(pack, b)) + skip, pack.last_half - pack.first_half);
  return result;
}
// Is the predicate the same for the lanes that count within each half, and if so, which?
bool by_halves(const Pack& pack, const Mask& predicate, std::uint16_t& bits) {
  bits = 0;
  for (int h = 0; h < pack.halves; ++h) {
    const std::uint16_t among = pack.mask.halves[h];
    const std::uint16_t on = predicate.halves[h] & among;
    if (on != 0 && on != among) return false;
    if (on != 0) bits |= static_cast<std::uint16_t>(1u << h);
  }
  return true;
}
void select_bases(Pack& pack, const Instruction& i, const Register& a, const Register& b,
                  std::uint16_t bits) {
  Register& d = reg(pack, i.d);
  alignas(64) std::uint8_t chosen[sizeof d.base];
  std::memcpy(chosen, b.base, sizeof chosen);
  pack.kernels->blend[d.log2_width](chosen, a.base, &bits, 1);
  std::memcpy(d.base, chosen, sizeof chosen);
  set_uniform(d);
}

}  // namespace

const Instruction* guard(Pack& pack, const Instruction& i) {
  const Mask& predicate = reg(pack, i.guard).predicate;
  const Mask on = i.guard_negated ? without(pack.mask, predicate) : pack.mask & predicate;
  if (on == pack.mask) return i.guarded(pack, i);
  if (on.empty()) return &i + 1;
  const Mask before = pack.mask;
  const std::uint32_t lanes = pack.lanes;
  narrow_to(pack, on);
  pack.guarded = true;
  const Instruction* next = i.guarded(pack, i);
  pack.guarded = false;
  if (next == nullptr) return nullptr;
  narrow_to(pack, before);
  pack.lanes = lanes;
  return next;
}

const Instruction* compare(Pack& pack, const Instruction& i) {
  const Mask result = compare_lanes(pack, i, reg(pack, i.a), reg(pack, i.b));
  Mask p = result, q = inverted(result);
  if (i.code != 0) {
    const Mask& given = reg(pack, i.c).predicate;
    const Mask with = i.flag ? inverted(given) : given;
    p = logic_of(i.code, p, with);
    q = logic_of(i.code, q, with);
  }
  if (i.d != kNoSlot) write_predicate(pack, i, reg(pack, i.d), p);
  if (i.elements[0] != kNoSlot) write_predicate(pack, i, reg(pack, i.elements[0]), q);
  return &i + 1;
}

const Instruction* logic(Pack& pack, const Instruction& i) {
  const Mask& a = reg(pack, i.a).predicate;
  const Mask left = i.is_signed ? inverted(a) : a;
  const Mask result =
      i.code == 4 ? inverted(left)
      : i.code == 0
          ? left
          : logic_of(i.code, left, i.flag ? inverted(reg(pack, i.b).predicate) : reg(pack, i.b).predicate);
  write_predicate(pack, i, reg(pack, i.d), result);
  return &i + 1;
}

const Instruction* select(Pack& pack, const Instruction& i) {
  Register& d = reg(pack, i.d);
  Register& a = reg(pack, i.a);
  Register& b = reg(pack, i.b);
  const Mask given = reg(pack, i.c).predicate;
  const Mask predicate = i.flag ? inverted(given) : given;
  std::uint16_t bits = 0;
  if (writes_scalar(pack, i, d) && a.is_uniform() && b.is_uniform() && by_halves(pack, predicate, bits))
    return select_bases(pack, i, a, b, bits), &i + 1;
  const std::size_t bytes = static_cast<std::size_t>(pack.halves) * kHalfLanes << d.log2_width;
  std::uint8_t* chosen = pack.worker->scratch[0];
  std::memcpy(chosen, vector_of(pack, b), bytes);
  pack.kernels->blend[d.log2_width](chosen, vector_of(pack, a), predicate.halves, pack.halves);
  std::memcpy(target_of(pack, i, d), chosen, bytes);
  commit(pack, i, d);
  return &i + 1;
}

}  // namespace handlers
}  // namespace softgpu::engine
