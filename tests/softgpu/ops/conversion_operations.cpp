// cvt: every pair of types with the roundings that compilers and CUDA's headers use.
#include <fmt/format.h>

#include "tests/softgpu/ops/formats.hpp"
#include "tests/softgpu/ops/operation.hpp"

namespace softgpu::ops {
namespace {

using Word = std::uint64_t;

constexpr const char* kIntegers[] = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"};

struct Named {
  const char* name;
  Rounding rounding;
};
constexpr Named kToFloat[] = {
    {".rn", Rounding::kNearest}, {".rz", Rounding::kZero}, {".rm", Rounding::kDown}, {".rp", Rounding::kUp}};
constexpr Named kToInteger[] = {{".rni", Rounding::kNearest},
                                {".rzi", Rounding::kZero},
                                {".rmi", Rounding::kDown},
                                {".rpi", Rounding::kUp}};

const Format& format_of(const std::string& type) {
  if (type == "f64") return kF64;
  if (type == "f32") return kF32;
  return type == "f16" ? kF16 : kBf16;
}

Quad integer_value(const std::string& type, Word bits) {
  const unsigned width = width_of(type);
  const Word masked = width == 64 ? bits : bits & ((Word{1} << width) - 1);
  const bool negative = type.front() == 's' && (masked >> (width - 1)) != 0;
  Quad power = 1;
  for (unsigned i = 0; i < width; ++i) power = power * 2;
  return static_cast<Quad>(masked) - (negative ? power : Quad(0));
}

Quad least(const std::string& type) {
  return type.front() == 's' ? integer_value(type, Word{1} << (width_of(type) - 1)) : Quad(0);
}
Quad greatest(const std::string& type) {
  const unsigned bits = width_of(type) - (type.front() == 's' ? 1 : 0);
  return integer_value(type, bits == 64 ? ~Word{0} : (Word{1} << bits) - 1);
}

// Of a whole number; modulo the type's width. A narrow result fills its 32-bit register by its sign.
Word integer_bits(const std::string& type, Quad value) {
  const auto wide = static_cast<Word>(static_cast<__int128>(value));
  const unsigned width = width_of(type);
  if (width == 64) return wide;
  if (width == 8 && type.front() == 's')
    return static_cast<Word>(static_cast<std::int64_t>(static_cast<std::int8_t>(wide))) & 0xffffffff;
  return wide & ((Word{1} << width) - 1);
}

Word clamped(const std::string& type, Quad value) {
  if (value < least(type)) value = least(type);
  if (value > greatest(type)) value = greatest(type);
  return integer_bits(type, value);
}

void add_between_integers(Operations& to, const std::string& result, const std::string& source) {
  const std::string suffix = "." + result + "." + source;
  add(to, "cvt" + suffix, result, {source},
      [=](const Word* x) { return integer_bits(result, integer_value(source, x[0])); });
  if (least(source) >= least(result) && greatest(source) <= greatest(result)) return;  // nothing to saturate
  add(to, "cvt.sat" + suffix, result, {source},
      [=](const Word* x) { return clamped(result, integer_value(source, x[0])); });
}

// A NaN becomes 0; where 64 bits are involved on either side, the value with only the top bit.
Word integer_of_nan(const std::string& result, const std::string& source) {
  const bool wide = source == "f64" || width_of(result) == 64;
  return wide ? integer_bits(result, integer_value(result, Word{1} << (width_of(result) - 1))) : 0;
}

void add_to_integer(Operations& to, const std::string& result, const std::string& source) {
  const Format& format = format_of(source);
  for (const Named& row : kToInteger) {
    for (const bool flushes : {false, true}) {
      if (flushes && source != "f32") continue;
      const Rounding rounding = row.rounding;
      add(to, fmt::format("cvt{}{}.{}.{}", row.name, flushes ? ".ftz" : "", result, source), result, {source},
          [=, &format](const Word* x) {
            const Quad value = decode(format, flushes ? flush(format, x[0]) : x[0]);
            if (value != value) return integer_of_nan(result, source);
            return clamped(result, round_to_integer(value, rounding));
          });
    }
  }
}

Word saturated(const Format& format, Word bits) {
  const Quad value = decode(format, bits);
  return value > 1 ? encode(format, {1, 0}) : value > 0 ? bits : 0;
}

void add_from_integer(Operations& to, const std::string& result, const std::string& source) {
  const Format& format = format_of(result);
  for (const Named& row : kToFloat) {
    const Rounding rounding = row.rounding;
    if (rounding != Rounding::kNearest && width_of(source) == 8) continue;
    add(to, fmt::format("cvt{}.{}.{}", row.name, result, source), result, {source},
        [=, &format](const Word* x) {
          return encode(format, {integer_value(source, x[0]), 0}, rounding);
        });
  }
}

// From one float format to another, or to itself as an integer; .ftz is about fp32 alone.
void add_between_floats(Operations& to, const std::string& rounding_name, Rounding rounding, bool to_integer,
                        const std::string& result, const std::string& source) {
  const Format &from = format_of(source), &into = format_of(result);
  for (const bool flushes : {false, true}) {
    if (flushes && source != "f32" && result != "f32") continue;
    if (flushes && result == "f16" && rounding != Rounding::kNearest) continue;
    for (const bool saturates : {false, true}) {
      if (saturates && (source == "f16" || result == "f64" || (source == "f64" && result == "f16") ||
                        (!to_integer && rounding != Rounding::kNearest)))
        continue;
      const std::string name = fmt::format("cvt{}{}{}.{}.{}", rounding_name, flushes ? ".ftz" : "",
                                           saturates ? ".sat" : "", result, source);
      add(to, name, result, {source}, [=, &from, &into](const Word* x) {
        Quad value = decode(from, flushes && source == "f32" ? flush(from, x[0]) : x[0]);
        if (to_integer) value = round_to_integer(value, rounding);
        Word bits = encode(into, {value, 0}, rounding);
        if (flushes && result == "f32") bits = flush(into, bits);
        return saturates ? saturated(into, bits) : bits;
      });
    }
  }
}

void add_float_pairs(Operations& to) {
  for (const Named& row : kToFloat) {
    add_between_floats(to, row.name, row.rounding, false, "f16", "f32");
    add_between_floats(to, row.name, row.rounding, false, "f32", "f64");
  }
  add_between_floats(to, ".rn", Rounding::kNearest, false, "f16", "f64");
  add_between_floats(to, "", Rounding::kNearest, false, "f32", "f16");
  add_between_floats(to, "", Rounding::kNearest, false, "f64", "f16");
  add_between_floats(to, "", Rounding::kNearest, false, "f64", "f32");
  for (const Named& row : kToInteger) {
    for (const char* type : {"f16", "f32", "f64"})
      add_between_floats(to, row.name, row.rounding, true, type, type);
  }
}

Word clipped(const Format& format, Word bits) {
  const Quad value = decode(format, bits);
  return is_negative(value) && value == value ? 0 : bits;
}

// To bf16, to pairs (the first operand is the upper half) and to tf32.
void add_packing(Operations& to) {
  add(to, "cvt.f32.bf16", "f32", {"bf16"}, [](const Word* x) {
    return encode(kF32, {decode(kBf16, x[0]), 0});
  });
  add(to, "cvt.rz.bf16.f32", "bf16", {"f32"}, [](const Word* x) {
    return encode(kBf16, {decode(kF32, x[0]), 0}, Rounding::kZero);
  });
  for (const bool clips : {false, true}) {
    const auto narrow = [=](const Format& format, Word bits) {
      const Word result = encode(format, {decode(kF32, bits), 0});
      return clips ? clipped(format, result) : result;
    };
    const std::string prefix = clips ? "cvt.rn.relu" : "cvt.rn";
    add(to, prefix + ".bf16.f32", "bf16", {"f32"}, [=](const Word* x) { return narrow(kBf16, x[0]); });
    add(to, prefix + ".bf16x2.f32", "bf16x2", {"f32", "f32"},
        [=](const Word* x) { return narrow(kBf16, x[0]) << 16 | narrow(kBf16, x[1]); });
    add(to, prefix + ".f16x2.f32", "f16x2", {"f32", "f32"},
        [=](const Word* x) { return narrow(kF16, x[0]) << 16 | narrow(kF16, x[1]); });
    if (clips)
      add(to, prefix + ".f16.f32", "f16", {"f32"}, [=](const Word* x) { return narrow(kF16, x[0]); });
  }
  add(to, "cvt.rna.tf32.f32", "b32", {"f32"}, [](const Word* x) {
    return encode(kTf32, {decode(kF32, x[0]), 0}, Rounding::kNearestAway);
  });
}

}  // namespace

Operations conversion_operations() {
  Operations to;
  for (const char* integer : kIntegers) {
    for (const char* other : kIntegers) add_between_integers(to, integer, other);
    for (const char* type : {"f16", "f32", "f64"}) {
      add_to_integer(to, integer, type);
      add_from_integer(to, type, integer);
    }
  }
  add_float_pairs(to);
  add_packing(to);
  return to;
}

}  // namespace softgpu::ops
