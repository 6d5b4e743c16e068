// Integer instructions on registers kept as base + lane * stride: the bases are computed as 16 lanes, the
// stride once. Where 32-bit values are widened, the sums must not wrap within a half.
#include "tools/softgpu/engine/handlers.hpp"
#include "tools/softgpu/engine/state.hpp"

namespace softgpu::engine::handlers {
namespace {

std::int64_t extend(std::int64_t value, int width) {
  if (width == 8) return value;
  const int shift = 64 - 8 * width;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << shift) >> shift;
}
// x + factor * y modulo 2^64.
std::int64_t wrapped(std::int64_t x, std::int64_t y, std::int64_t factor) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) +
                                   static_cast<std::uint64_t>(factor) * static_cast<std::uint64_t>(y));
}
std::uint64_t base_of(const Register& r, int half) {
  std::uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const char*>(r.base) + half * r.width, r.width);
  return value;
}
// The one value of all lanes, if there is one.
bool same_everywhere(const Pack& pack, const Register& r, std::uint64_t& value) {
  if (r.stride != 0) return false;
  value = base_of(r, pack.first_half);
  if ((r.state & Register::kSame) != 0) return true;
  for (int h = pack.first_half + 1; h < pack.last_half; ++h) {
    if (base_of(r, h) != value) return false;
  }
  return true;
}
// base + 15 * stride stays within the register's 16 or 32 bits, taken as signed or unsigned.
bool stays_within(const Pack& pack, const Register& r, bool is_signed) {
  if (r.stride == 0) return true;
  if (r.width != 4) return false;
  const int bits = 8 * r.width;
  const std::int64_t low = is_signed ? -(std::int64_t{1} << (bits - 1)) : 0;
  const std::int64_t high = std::int64_t{1} << (is_signed ? bits - 1 : bits);
  const std::int64_t reach = r.stride * (kHalfLanes - 1);
  const Spread spread = pack.kernels->spread(r.base, r.width, pack.first_half, pack.last_half);
  const auto least = static_cast<std::int64_t>(spread.least),
             greatest = static_cast<std::int64_t>(spread.greatest);
  if (greatest < high && greatest + reach < high && least + reach >= low) return true;
  if (!is_signed) return false;
  for (int h = pack.first_half; h < pack.last_half; ++h) {
    const auto raw = static_cast<std::int64_t>(base_of(r, h));
    const std::int64_t last = extend(raw, r.width) + reach;
    if (last < low || last >= high) return false;
  }
  return true;
}
// Stride of a * b where one of them is the same everywhere.
bool product_stride(const Pack& pack, const Register& a, const Register& b, bool wide, bool is_signed,
                    std::int64_t& stride) {
  if (a.stride == 0 && b.stride == 0) return stride = 0, true;
  const Register& moving = a.stride != 0 ? a : b;
  const Register& fixed = a.stride != 0 ? b : a;
  std::uint64_t value = 0;
  if (!same_everywhere(pack, fixed, value)) return false;
  if (wide && !stays_within(pack, moving, is_signed)) return false;
  const std::uint64_t factor =
      wide && !is_signed ? value
                         : static_cast<std::uint64_t>(extend(static_cast<std::int64_t>(value), fixed.width));
  stride = static_cast<std::int64_t>(static_cast<std::uint64_t>(moving.stride) * factor);
  return true;
}
bool shifted_stride(const Pack& pack, const Register& a, const Register& b, std::int64_t& stride) {
  std::uint64_t by = 0;
  if (!same_everywhere(pack, b, by) || by >= 64) return false;
  stride = static_cast<std::int64_t>(static_cast<std::uint64_t>(a.stride) << by);
  return true;
}
bool stride_of(const Pack& pack, const Instruction& i, const Register& a, const Register& b,
               const Register& c, std::int64_t& stride) {
  const bool is_signed = i.affine == Affine::kWidenSigned || i.affine == Affine::kMultiplyWideSigned ||
                         i.affine == Affine::kMultiplyAddWideSigned;
  const bool wide = i.widths[0] > i.widths[1];
  switch (i.affine) {
    case Affine::kMove:
    case Affine::kTruncate:
      return stride = a.stride, true;
    case Affine::kNegate:
      return stride = wrapped(0, a.stride, -1), true;
    case Affine::kAdd:
      return stride = wrapped(a.stride, b.stride, 1), true;
    case Affine::kSubtract:
      return stride = wrapped(a.stride, b.stride, -1), true;
    case Affine::kShiftLeft:
      return shifted_stride(pack, a, b, stride);
    case Affine::kWidenSigned:
    case Affine::kWidenUnsigned:
      return stride = a.stride, stays_within(pack, a, is_signed);
    case Affine::kMultiply:
    case Affine::kMultiplyWideSigned:
    case Affine::kMultiplyWideUnsigned:
      return product_stride(pack, a, b, wide, is_signed, stride);
    case Affine::kMultiplyAdd:
    case Affine::kMultiplyAddWideSigned:
    case Affine::kMultiplyAddWideUnsigned:
      if (!product_stride(pack, a, b, wide, is_signed, stride)) return false;
      stride = static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) +
                                         static_cast<std::uint64_t>(c.stride));
      return true;
    case Affine::kNone:
      break;
  }
  return false;
}

}  // namespace

const Instruction* affine(Pack& pack, const Instruction& i) {
  Register& a = reg(pack, i.a);
  Register& b = i.b == kNoSlot ? a : reg(pack, i.b);
  Register& c = i.c == kNoSlot ? a : reg(pack, i.c);
  Register& d = reg(pack, i.d);
  std::int64_t stride = 0;
  if ((a.state & b.state & c.state & Register::kAffine) == 0 || !writes_scalar(pack, i, d) ||
      !stride_of(pack, i, a, b, c, stride))
    return evaluate_lanes(pack, i);
  i.eval(d.base, a.base, b.base, c.base, 1);
  set_uniform(d, a.state & b.state & c.state);
  d.stride = extend(stride, d.width);
  return &i + 1;
}

}  // namespace softgpu::engine::handlers
