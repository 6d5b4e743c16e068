#include "tools/softgpu/engine/handlers.hpp"
#include "tools/softgpu/engine/state.hpp"

namespace softgpu::engine::handlers {
namespace {

// The elements of the halves in use.
std::uint8_t* from_first(Pack& pack, const Register& r, void* elements) {
  return static_cast<std::uint8_t*>(elements) +
         (static_cast<std::size_t>(pack.first_half) * kHalfLanes << r.log2_width);
}
const void* source(Pack& pack, SlotId slot) {
  if (slot == kNoSlot) return nullptr;
  Register& r = reg(pack, slot);
  return from_first(pack, r, vector_of(pack, r));
}

// Finds base and stride of what was computed lane by lane.
template <class T>
void find_affine(const Pack& pack, Register& d) {
  const T* lanes = static_cast<const T*>(d.vector) + pack.first_half * kHalfLanes;
  T* base = reinterpret_cast<T*>(d.base);
  const T stride = static_cast<T>(lanes[1] - lanes[0]);
  T differs = 0;
  for (int h = pack.first_half; h < pack.last_half; ++h, lanes += kHalfLanes) {
    base[h] = lanes[0];
    for (int l = 1; l < kHalfLanes; ++l) differs |= static_cast<T>(lanes[l] - lanes[l - 1] - stride);
    if (differs != 0) return;
  }
  d.stride = static_cast<std::make_signed_t<T>>(stride);
  d.state |= Register::kAffine;
}

}  // namespace

const Instruction* evaluate_lanes(Pack& pack, const Instruction& i) {
  Register& d = reg(pack, i.d);
  const void* a = source(pack, i.a);
  const void* b = source(pack, i.b);
  const void* c = source(pack, i.c);
  i.eval(from_first(pack, d, target_of(pack, i, d)), a, b, c, pack.last_half - pack.first_half);
  commit(pack, i, d);
  return &i + 1;
}

const Instruction* unary(Pack& pack, const Instruction& i) {
  Register& d = reg(pack, i.d);
  Register& a = reg(pack, i.a);
  if (!a.is_uniform() || !writes_scalar(pack, i, d)) return evaluate_lanes(pack, i);
  i.eval(d.base, a.base, nullptr, nullptr, 1);
  return set_uniform(d, a.state), &i + 1;
}
const Instruction* binary(Pack& pack, const Instruction& i) {
  Register& d = reg(pack, i.d);
  Register& a = reg(pack, i.a);
  Register& b = reg(pack, i.b);
  if (!a.is_uniform() || !b.is_uniform() || !writes_scalar(pack, i, d)) return evaluate_lanes(pack, i);
  i.eval(d.base, a.base, b.base, nullptr, 1);
  return set_uniform(d, a.state & b.state), &i + 1;
}
const Instruction* ternary(Pack& pack, const Instruction& i) {
  Register& d = reg(pack, i.d);
  Register& a = reg(pack, i.a);
  Register& b = reg(pack, i.b);
  Register& c = reg(pack, i.c);
  if (!a.is_uniform() || !b.is_uniform() || !c.is_uniform() || !writes_scalar(pack, i, d))
    return evaluate_lanes(pack, i);
  i.eval(d.base, a.base, b.base, c.base, 1);
  return set_uniform(d, a.state & b.state & c.state), &i + 1;
}

// Quotients, remainders, masks and shifts of evenly spaced values are often evenly spaced within each half.
const Instruction* recognise(Pack& pack, const Instruction& i) {
  Register& d = reg(pack, i.d);
  Register& a = reg(pack, i.a);
  Register& b = reg(pack, i.b);
  if (a.is_uniform() && b.is_uniform()) return binary(pack, i);
  const bool promising = (a.state & b.state & Register::kAffine) != 0 && writes_scalar(pack, i, d);
  const Instruction* next = evaluate_lanes(pack, i);
  if (!promising) return next;
  if (d.width == 4) find_affine<std::uint32_t>(pack, d);
  if (d.width == 8) find_affine<std::uint64_t>(pack, d);
  return next;
}

}  // namespace softgpu::engine::handlers
