// fp16 and bf16, alone and in pairs: one rounding from the exact value.
#include "tests/softgpu/ops/formats.hpp"
#include "tests/softgpu/ops/operation.hpp"

namespace softgpu::ops {
namespace {

using Word = std::uint64_t;
using Exactly = Exact (*)(Quad a, Quad b, Quad c);

struct Form {
  Format format;
  bool flushes = false, saturates = false, clips = false;  // .ftz, .sat, .relu
};

Word finish(const Form& form, const Exact& exact) {
  Word bits = encode(form.format, exact);
  if (form.flushes) bits = flush(form.format, bits);
  const Quad value = decode(form.format, bits);
  if (form.saturates) return value > 1 ? encode(form.format, {1, 0}) : value > 0 ? bits : 0;
  return form.clips && is_negative(value) && value == value ? 0 : bits;
}

// On one half each, or on both of a pair.
using OnHalf = std::function<Word(Word a, Word b, Word c)>;
Reference on_both(const OnHalf& on_half) {
  return [=](const Word* x) {
    const Word low = on_half(x[0] & 0xffff, x[1] & 0xffff, x[2] & 0xffff);
    return low | on_half(x[0] >> 16, x[1] >> 16, x[2] >> 16) << 16;
  };
}
void add_both(Operations& to, const std::string& name, const std::string& type, std::size_t operands,
              const OnHalf& on_half) {
  add(to, name + "." + type, type, std::vector(operands, type),
      [=](const Word* x) { return on_half(x[0], x[1], x[2]); });
  add(to, name + "." + type + "x2", type + "x2", std::vector(operands, type + "x2"), on_both(on_half));
}

OnHalf rounded(const Form& form, Exactly exactly) {
  return [=](Word a, Word b, Word c) {
    const auto value = [&](Word bits) {
      return decode(form.format, form.flushes ? flush(form.format, bits) : bits);
    };
    return finish(form, exactly(value(a), value(b), value(c)));
  };
}

struct Shape {
  const char* operation;
  std::size_t operands;
  Exactly exactly;
};
const Shape kShapes[] = {
    {"add", 2, [](Quad a, Quad b, Quad) { return add(a, b, Rounding::kNearest); }},
    {"sub", 2, [](Quad a, Quad b, Quad) { return add(a, -b, Rounding::kNearest); }},
    {"mul", 2,
     [](Quad a, Quad b, Quad) {
       return Exact{a * b, 0};
     }},
    {"fma.rn", 3, [](Quad a, Quad b, Quad c) { return fused(a, b, c, Rounding::kNearest); }},
};

void add_arithmetic(Operations& to) {
  for (const Shape& shape : kShapes) {
    const std::string operation = shape.operation;
    for (const bool flushes : {false, true}) {
      for (const bool saturates : {false, true}) {
        const std::string name = operation + (flushes ? ".ftz" : "") + (saturates ? ".sat" : "");
        add_both(to, name, "f16", shape.operands, rounded({kF16, flushes, saturates}, shape.exactly));
      }
    }
    add_both(to, operation, "bf16", shape.operands, rounded({kBf16}, shape.exactly));
    if (shape.operands == 2) {
      add_both(to, operation + ".rn", "f16", 2, rounded({kF16}, shape.exactly));
      add_both(to, operation + ".rn", "bf16", 2, rounded({kBf16}, shape.exactly));
    }
  }
  add_both(to, "fma.rn.relu", "f16", 3, rounded({kF16, false, false, true}, kShapes[3].exactly));
  add_both(to, "fma.rn.relu", "bf16", 3, rounded({kBf16, false, false, true}, kShapes[3].exactly));
}

Word extreme(const Format& format, bool greatest, bool keeps_nan, Word a, Word b) {
  const bool a_nan = is_nan(format, a), b_nan = is_nan(format, b);
  if ((a_nan && b_nan) || (keeps_nan && (a_nan || b_nan))) return format.nan;
  if (a_nan || b_nan) return a_nan ? b : a;
  const Quad x = decode(format, a), y = decode(format, b);
  const bool a_less = x < y || (x == y && is_negative(x) && !is_negative(y));
  return a_less == greatest ? b : a;
}

void add_extremes(Operations& to, const std::string& type, const Format& format) {
  for (const bool greatest : {false, true}) {
    for (const bool keeps_nan : {false, true}) {
      const std::string name = std::string(greatest ? "max" : "min") + (keeps_nan ? ".NaN" : "");
      add_both(to, name, type, 2,
               [=](Word a, Word b, Word) { return extreme(format, greatest, keeps_nan, a, b); });
    }
    if (type != "f16") continue;
    add_both(to, greatest ? "max.ftz" : "min.ftz", type, 2, [=](Word a, Word b, Word) {
      return extreme(format, greatest, false, flush(format, a), flush(format, b));
    });
  }
}

}  // namespace

Operations half_operations() {
  Operations to;
  add_arithmetic(to);
  for (const char* type : {"f16", "bf16"}) {
    add_extremes(to, type, type[0] == 'f' ? kF16 : kBf16);
    add_both(to, "neg", type, 1, [](Word a, Word, Word) { return a ^ 0x8000; });
    add_both(to, "abs", type, 1, [](Word a, Word, Word) { return a & 0x7fff; });
  }
  return to;
}

}  // namespace softgpu::ops
