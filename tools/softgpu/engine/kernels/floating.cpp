// fp32 and fp64 arithmetic, rounded to nearest. .approx forms of operations that IEEE defines are the exact
// ones.
#include "tools/softgpu/engine/kernels/real.hpp"

namespace softgpu::engine::SOFTGPU_LEVEL {
namespace {

#define FINISH(T, FTZ, SAT, value) (finish<FTZ, SAT, T>(value))
#define REAL1(op, suffix, T, FTZ, SAT, value) \
  UNARY(op suffix, T, T, kNone, FINISH(T, FTZ, SAT, ([](T a) { return value; })(flush<FTZ>(x))))
#define REAL2(op, suffix, T, FTZ, SAT, value) \
  BINARY(op suffix, T, T, T, kNone,           \
         FINISH(T, FTZ, SAT, ([](T a, T b) { return value; })(flush<FTZ>(x), flush<FTZ>(y))))
#define REAL3(op, suffix, T, FTZ, SAT, value)                                    \
  TERNARY(op suffix, T, T, T, T, kNone, FINISH(T, FTZ, SAT, ([](T a, T b, T c) { \
                                                 return value;                   \
                                               })(flush<FTZ>(x), flush<FTZ>(y), flush<FTZ>(z))))

#define FORMS(SHAPE, op, value)                                                                              \
  SHAPE(op, ".f32", float, false, false, value), SHAPE(op, ".ftz.f32", float, true, false, value),           \
      SHAPE(op, ".sat.f32", float, false, true, value), SHAPE(op, ".ftz.sat.f32", float, true, true, value), \
      SHAPE(op, ".f64", double, false, false, value)

// neg, abs and copysign move bits; a NaN passes through.
#define SIGN_FORMS(op, value)                                  \
  UNARY(op ".f32", u32, u32, kNone, ([](u32 a) {               \
          constexpr u32 sign = Bits<float>::kSign;             \
          return value;                                        \
        })(x)),                                                \
      UNARY(op ".ftz.f32", u32, u32, kNone, ([](u32 a) {       \
              constexpr u32 sign = Bits<float>::kSign;         \
              return value;                                    \
            })(bits_as<u32>(flush<true>(bits_as<float>(x))))), \
      UNARY(op ".f64", u64, u64, kNone, ([](u64 a) {           \
              constexpr u64 sign = Bits<double>::kSign;        \
              return value;                                    \
            })(x))

constexpr Row kRows[] = {
    FORMS(REAL2, "add", a + b),
    FORMS(REAL2, "sub", a - b),
    FORMS(REAL2, "mul", a* b),
    FORMS(REAL3, "fma", fused(a, b, c)),
    FORMS(REAL3, "mad", fused(a, b, c)),
    FORMS(REAL2, "div", a / b),
    FORMS(REAL1, "rcp", decltype(a)(1) / a),
    FORMS(REAL1, "sqrt", root(a)),
    FORMS(REAL2, "min", minimum(a, b)),
    FORMS(REAL2, "max", maximum(a, b)),
    REAL2("min.NaN", ".f32", float, false, false, minimum_nan(a, b)),
    REAL2("min.ftz.NaN", ".f32", float, true, false, minimum_nan(a, b)),
    REAL2("max.NaN", ".f32", float, false, false, maximum_nan(a, b)),
    REAL2("max.ftz.NaN", ".f32", float, true, false, maximum_nan(a, b)),
    SIGN_FORMS("neg", a ^ sign),
    SIGN_FORMS("abs", a & ~sign),
    // copysign d, a, b: the sign of a, the magnitude of b.
    BINARY("copysign.f32", u32, u32, u32, kNone, (x & 0x80000000u) | (y & 0x7fffffffu)),
    BINARY("copysign.f64", u64, u64, u64, kNone, (x & Bits<double>::kSign) | (y & ~Bits<double>::kSign)),
};

}  // namespace

Table<Row> floating_rows() { return table_of(kRows); }

}  // namespace softgpu::engine::SOFTGPU_LEVEL
