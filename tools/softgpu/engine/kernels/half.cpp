// fp16 and bf16 arithmetic, single and in pairs, each operation rounded once.
#include "tools/softgpu/engine/kernels/narrow.hpp"

namespace softgpu::engine::SOFTGPU_LEVEL {
namespace {

struct F16 {
  static double wide(u16 x) { return static_cast<double>(widen_f16(x)); }
  static u16 narrow(double x) { return narrow_f16(x); }
  static constexpr u16 kLeastNormal = 0x0400;
};
struct Bf16 {
  static double wide(u16 x) { return static_cast<double>(widen_bf16(x)); }
  static u16 narrow(double x) { return narrow_bf16(x); }
  static constexpr u16 kLeastNormal = 0x0080;
};
template <class F, bool Ftz>
inline u16 flushed(u16 x) {
  if constexpr (!Ftz) return x;
  return (x & 0x7fff) < F::kLeastNormal ? static_cast<u16>(x & 0x8000) : x;
}

struct Add {
  static double of(double x, double y) { return fused_odd(x, 1.0, y); }
};
struct Subtract {
  static double of(double x, double y) { return fused_odd(x, 1.0, -y); }
};
struct Multiply {
  static double of(double x, double y) { return x * y; }
};
struct Minimum {
  static double of(double x, double y) { return minimum(x, y); }
};
struct Maximum {
  static double of(double x, double y) { return maximum(x, y); }
};
struct MinimumNan {
  static double of(double x, double y) { return minimum_nan(x, y); }
};
struct MaximumNan {
  static double of(double x, double y) { return maximum_nan(x, y); }
};
struct Fused {
  static double of(double x, double y, double z) { return fused_odd(x, y, z); }
};

template <class F, bool Ftz, bool Sat>
inline u16 result(double x) {
  return flushed<F, Ftz>(F::narrow(saturate<Sat>(x)));
}
template <class F, class Op, bool Ftz, bool Sat>
inline u16 two(u16 x, u16 y) {
  return result<F, Ftz, Sat>(Op::of(F::wide(flushed<F, Ftz>(x)), F::wide(flushed<F, Ftz>(y))));
}
template <class F, class Op, bool Ftz, bool Sat, bool Relu>
inline u16 three(u16 x, u16 y, u16 z) {
  const double value =
      Op::of(F::wide(flushed<F, Ftz>(x)), F::wide(flushed<F, Ftz>(y)), F::wide(flushed<F, Ftz>(z)));
  return result<F, Ftz, Sat>(Relu && value <= 0.0 ? 0.0 : value);
}
inline u16 low(u32 x) { return static_cast<u16>(x); }
inline u16 high(u32 x) { return static_cast<u16>(x >> 16); }
inline u32 pair(u16 x, u16 y) { return x | u32{y} << 16; }

#define BOTH2(F, Op, FTZ, SAT) \
  pair(two<F, Op, FTZ, SAT>(low(x), low(y)), two<F, Op, FTZ, SAT>(high(x), high(y)))
#define BOTH3(F, Op, FTZ, SAT, RELU)                         \
  pair(three<F, Op, FTZ, SAT, RELU>(low(x), low(y), low(z)), \
       three<F, Op, FTZ, SAT, RELU>(high(x), high(y), high(z)))
#define NARROW2(op, suffix, type, F, Op, FTZ, SAT)                                \
  BINARY(op suffix "." type, u16, u16, u16, kNone, (two<F, Op, FTZ, SAT>(x, y))), \
      BINARY(op suffix "." type "x2", u32, u32, u32, kNone, (BOTH2(F, Op, FTZ, SAT)))
#define NARROW3(op, suffix, type, F, Op, FTZ, SAT, RELU)                                           \
  TERNARY(op suffix "." type, u16, u16, u16, u16, kNone, (three<F, Op, FTZ, SAT, RELU>(x, y, z))), \
      TERNARY(op suffix "." type "x2", u32, u32, u32, u32, kNone, (BOTH3(F, Op, FTZ, SAT, RELU)))
#define ARITHMETIC(op, Op)                                                                                   \
  NARROW2(op, "", "f16", F16, Op, false, false), NARROW2(op, ".ftz", "f16", F16, Op, true, false),           \
      NARROW2(op, ".sat", "f16", F16, Op, false, true), NARROW2(op, ".ftz.sat", "f16", F16, Op, true, true), \
      NARROW2(op, "", "bf16", Bf16, Op, false, false)
#define EXTREME(op, Op)                                                                            \
  NARROW2(op, "", "f16", F16, Op, false, false), NARROW2(op, ".ftz", "f16", F16, Op, true, false), \
      NARROW2(op, "", "bf16", Bf16, Op, false, false)
#define SIGN(op, mask)                                         \
  UNARY(op ".f16", u16, u16, kNone, x mask 0x8000u),           \
      UNARY(op ".f16x2", u32, u32, kNone, x mask 0x80008000u), \
      UNARY(op ".bf16", u16, u16, kNone, x mask 0x8000u),      \
      UNARY(op ".bf16x2", u32, u32, kNone, x mask 0x80008000u)

// Comparison of both halves: ones or 1.0 for each that holds, in p and q.
#define SET2(cmp, holds)                                                                   \
  BINARY("set." cmp ".f16x2.f16x2", u32, u32, u32, kNone,                                  \
         (set2<F16, 0x3c00>(x, y, [](double p, double q) -> bool { return holds; }))),     \
      BINARY("set." cmp ".u32.f16x2", u32, u32, u32, kNone,                                \
             (set2<F16, 0xffff>(x, y, [](double p, double q) -> bool { return holds; }))), \
      BINARY("set." cmp ".bf16x2.bf16x2", u32, u32, u32, kNone,                            \
             (set2<Bf16, 0x3f80>(x, y, [](double p, double q) -> bool { return holds; })))
template <class F, u16 kOne, class Holds>
inline u32 set2(u32 x, u32 y, Holds holds) {
  return pair(holds(F::wide(low(x)), F::wide(low(y))) ? kOne : u16{0},
              holds(F::wide(high(x)), F::wide(high(y))) ? kOne : u16{0});
}

constexpr Row kRows[] = {
    ARITHMETIC("add", Add),
    ARITHMETIC("sub", Subtract),
    ARITHMETIC("mul", Multiply),
    EXTREME("min", Minimum),
    EXTREME("max", Maximum),
    NARROW2("min.NaN", "", "f16", F16, MinimumNan, false, false),
    NARROW2("min.ftz.NaN", "", "f16", F16, MinimumNan, true, false),
    NARROW2("min.NaN", "", "bf16", Bf16, MinimumNan, false, false),
    NARROW2("max.NaN", "", "f16", F16, MaximumNan, false, false),
    NARROW2("max.ftz.NaN", "", "f16", F16, MaximumNan, true, false),
    NARROW2("max.NaN", "", "bf16", Bf16, MaximumNan, false, false),
    NARROW3("fma", "", "f16", F16, Fused, false, false, false),
    NARROW3("fma", ".ftz", "f16", F16, Fused, true, false, false),
    NARROW3("fma", ".sat", "f16", F16, Fused, false, true, false),
    NARROW3("fma", ".relu", "f16", F16, Fused, false, false, true),
    NARROW3("fma", ".ftz.sat", "f16", F16, Fused, true, true, false),
    NARROW3("fma", "", "bf16", Bf16, Fused, false, false, false),
    NARROW3("fma", ".relu", "bf16", Bf16, Fused, false, false, true),
    SIGN("neg", ^),
    SIGN("abs", &~),
    SET2("eq", p == q),
    SET2("ne", (p < q) | (p > q)),
    SET2("lt", p < q),
    SET2("le", p <= q),
    SET2("gt", p > q),
    SET2("ge", p >= q),
    SET2("equ", !((p < q) | (p > q))),
    SET2("neu", !(p == q)),
    SET2("ltu", !(p >= q)),
    SET2("leu", !(p > q)),
    SET2("gtu", !(p <= q)),
    SET2("geu", !(p < q)),
};

}  // namespace

Table<Row> half_rows() { return table_of(kRows); }

}  // namespace softgpu::engine::SOFTGPU_LEVEL
