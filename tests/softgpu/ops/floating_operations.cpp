// fp32 and fp64 arithmetic, rounded from the exact value.
#include "tests/softgpu/ops/formats.hpp"
#include "tests/softgpu/ops/operation.hpp"

namespace softgpu::ops {
namespace {

using Word = std::uint64_t;
using Exactly = Exact (*)(Quad a, Quad b, Quad c, Rounding rounding);

// Modifiers that say how a result is finished.
struct Form {
  Format format;
  Rounding rounding = Rounding::kNearest;
  bool flushes = false, saturates = false;
};

Word finish(const Form& form, const Exact& exact) {
  Word bits = encode(form.format, exact, form.rounding);
  if (form.flushes) bits = flush(form.format, bits);
  if (!form.saturates) return bits;
  const Quad value = decode(form.format, bits);
  return value > 1 ? encode(form.format, {1, 0}) : value > 0 ? bits : 0;
}

Reference rounded(const Form& form, Exactly exactly) {
  return [=](const Word* x) {
    Quad values[3];
    for (int i = 0; i < 3; ++i)
      values[i] = decode(form.format, form.flushes ? flush(form.format, x[i]) : x[i]);
    return finish(form, exactly(values[0], values[1], values[2], form.rounding));
  };
}

struct Named {
  const char* name;
  Rounding rounding;
};
constexpr Named kRoundings[] = {
    {".rn", Rounding::kNearest}, {".rz", Rounding::kZero}, {".rm", Rounding::kDown}, {".rp", Rounding::kUp}};

std::vector<std::string> sources(const std::string& type, std::size_t count) {
  return std::vector(count, type);
}

// With each of the modifiers that `operation` may have.
struct Shape {
  const char* operation;
  std::size_t operands;
  bool needs_rounding;  // written out
  bool may_saturate;
  Exactly exactly;
};
const Shape kShapes[] = {
    {"add", 2, false, true, [](Quad a, Quad b, Quad, Rounding r) { return add(a, b, r); }},
    {"sub", 2, false, true, [](Quad a, Quad b, Quad, Rounding r) { return add(a, -b, r); }},
    {"mul", 2, false, true,
     [](Quad a, Quad b, Quad, Rounding) {
       return Exact{a * b, 0};
     }},
    {"fma", 3, true, true, fused},
    {"mad", 3, true, true, fused},
    {"div", 2, true, false,
     [](Quad a, Quad b, Quad, Rounding) {
       return Exact{a / b, 0};
     }},
    {"rcp", 1, true, false,
     [](Quad a, Quad, Quad, Rounding) {
       return Exact{1 / a, 0};
     }},
    {"sqrt", 1, true, false,
     [](Quad a, Quad, Quad, Rounding) {
       return Exact{square_root(a), 0};
     }},
};

void add_single(Operations& to, const Shape& shape, const std::string& rounding_name, Rounding rounding) {
  for (const bool flushes : {false, true}) {
    for (const bool saturates : {false, true}) {
      if (saturates && (!shape.may_saturate || rounding != Rounding::kNearest)) continue;
      const std::string name =
          shape.operation + rounding_name + (flushes ? ".ftz" : "") + (saturates ? ".sat" : "") + ".f32";
      add(to, name, "f32", sources("f32", shape.operands),
          rounded({kF32, rounding, flushes, saturates}, shape.exactly));
    }
  }
}

void add_arithmetic(Operations& to) {
  for (const Shape& shape : kShapes) {
    const std::string operation = shape.operation;
    for (const Named& row : kRoundings) {
      add_single(to, shape, row.name, row.rounding);
      add(to, operation + row.name + ".f64", "f64", sources("f64", shape.operands),
          rounded({kF64, row.rounding}, shape.exactly));
    }
    if (shape.needs_rounding) continue;
    add_single(to, shape, "", Rounding::kNearest);
    add(to, operation + ".f64", "f64", sources("f64", shape.operands), rounded({kF64}, shape.exactly));
  }
}

// Approximations of what IEEE 754 defines are the defined results.
void add_approximations(Operations& to) {
  const Exactly divide = kShapes[5].exactly, invert = kShapes[6].exactly, root = kShapes[7].exactly;
  const Exactly invert_root = [](Quad a, Quad, Quad, Rounding) { return Exact{1 / square_root(a), 0}; };
  for (const bool flushes : {false, true}) {
    const std::string suffix = flushes ? ".ftz.f32" : ".f32";
    const Form form{kF32, Rounding::kNearest, flushes};
    add(to, "div.approx" + suffix, "f32", {"f32", "f32"}, rounded(form, divide));
    add(to, "div.full" + suffix, "f32", {"f32", "f32"}, rounded(form, divide));
    add(to, "rcp.approx" + suffix, "f32", {"f32"}, rounded(form, invert));
    add(to, "sqrt.approx" + suffix, "f32", {"f32"}, rounded(form, root));
    add(to, "rsqrt.approx" + suffix, "f32", {"f32"}, rounded(form, invert_root));
  }
  const Form flushing{kF64, Rounding::kNearest, true};
  add(to, "rcp.approx.ftz.f64", "f64", {"f64"}, rounded(flushing, invert));
  // fp64 alone may differ from the exact value: the root is rounded before it is inverted.
  const Exactly invert_rounded_root = [](Quad a, Quad, Quad, Rounding) {
    return Exact{1 / decode(kF64, encode(kF64, {square_root(a), 0})), 0};
  };
  add(to, "rsqrt.approx.ftz.f64", "f64", {"f64"}, rounded(flushing, invert_rounded_root));
  add(to, "rsqrt.approx.f64", "f64", {"f64"}, rounded({kF64}, invert_rounded_root));
}

// One NaN gives the other operand, unless NaN is asked for; the zeros are ordered.
Word extreme(const Form& form, bool greatest, bool keeps_nan, Word a, Word b) {
  if (form.flushes) {
    a = flush(form.format, a);
    b = flush(form.format, b);
  }
  const bool a_nan = is_nan(form.format, a), b_nan = is_nan(form.format, b);
  if ((a_nan && b_nan) || (keeps_nan && (a_nan || b_nan))) return form.format.nan;
  if (a_nan || b_nan) return a_nan ? b : a;
  const Quad x = decode(form.format, a), y = decode(form.format, b);
  const bool a_less = x < y || (x == y && is_negative(x) && !is_negative(y));
  return a_less == greatest ? b : a;
}

void add_extremes(Operations& to, const std::string& type, const Format& format) {
  for (const bool greatest : {false, true}) {
    for (const bool flushes : {false, true}) {
      for (const bool keeps_nan : {false, true}) {
        if (type == "f64" && (flushes || keeps_nan)) continue;
        const std::string name = std::string(greatest ? "max" : "min") + (flushes ? ".ftz" : "") +
                                 (keeps_nan ? ".NaN" : "") + "." + type;
        const Form form{format, Rounding::kNearest, flushes};
        add(to, name, type, {type, type},
            [=](const Word* x) { return extreme(form, greatest, keeps_nan, x[0], x[1]); });
      }
    }
  }
}

void add_signs(Operations& to, const std::string& type, const Format& format) {
  const Word sign = sign_bit(format);
  add(to, "neg." + type, type, {type}, [=](const Word* x) { return x[0] ^ sign; });
  add(to, "abs." + type, type, {type}, [=](const Word* x) { return x[0] & (sign - 1); });
  add(to, "copysign." + type, type, {type, type},
      [=](const Word* x) { return (x[0] & sign) | (x[1] & (sign - 1)); });
  if (type == "f64") return;
  add(to, "neg.ftz." + type, type, {type}, [=](const Word* x) { return flush(format, x[0]) ^ sign; });
  add(to, "abs.ftz." + type, type, {type}, [=](const Word* x) { return flush(format, x[0]) & (sign - 1); });
}

}  // namespace

Operations floating_operations() {
  Operations to;
  add_arithmetic(to);
  add_approximations(to);
  for (const bool wide : {false, true}) {
    const std::string type = wide ? "f64" : "f32";
    add_extremes(to, type, wide ? kF64 : kF32);
    add_signs(to, type, wide ? kF64 : kF32);
  }
  return to;
}

}  // namespace softgpu::ops
