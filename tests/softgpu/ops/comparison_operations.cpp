// setp and set: every comparison of every type, and the ways to combine it with a predicate.
#include "tests/softgpu/ops/formats.hpp"
#include "tests/softgpu/ops/operation.hpp"

namespace softgpu::ops {
namespace {

using Word = std::uint64_t;

enum Order : unsigned { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };

struct Comparison {
  const char* name;
  unsigned holds_for;
};
constexpr Comparison kSigned[] = {{"eq", kEqual},   {"ne", kLess | kGreater},
                                  {"lt", kLess},    {"le", kLess | kEqual},
                                  {"gt", kGreater}, {"ge", kGreater | kEqual}};
constexpr Comparison kUnsigned[] = {
    {"lo", kLess}, {"ls", kLess | kEqual}, {"hi", kGreater}, {"hs", kGreater | kEqual}};
constexpr Comparison kFloat[] = {{"equ", kEqual | kUnordered},       {"neu", kLess | kGreater | kUnordered},
                                 {"ltu", kLess | kUnordered},        {"leu", kLess | kEqual | kUnordered},
                                 {"gtu", kGreater | kUnordered},     {"geu", kGreater | kEqual | kUnordered},
                                 {"num", kLess | kEqual | kGreater}, {"nan", kUnordered}};

using Compare = unsigned (*)(Word a, Word b);

template <class T>
unsigned order(Word a, Word b) {
  const T x = static_cast<T>(a), y = static_cast<T>(b);
  return x < y ? kLess : x > y ? kGreater : kEqual;
}
unsigned order_quads(Quad x, Quad y) {
  return x < y ? kLess : x > y ? kGreater : x == y ? kEqual : kUnordered;
}
template <const Format& kFormat, bool kFlush>
unsigned order_floats(Word a, Word b) {
  return order_quads(decode(kFormat, kFlush ? flush(kFormat, a) : a),
                     decode(kFormat, kFlush ? flush(kFormat, b) : b));
}

void add_comparison(Operations& to, const Comparison& comparison, const std::string& suffix,
                    const std::string& type, Compare compare) {
  add(to, std::string("setp.") + comparison.name + "." + suffix, "pred", {type, type},
      [=](const Word* x) { return Word{(compare(x[0], x[1]) & comparison.holds_for) != 0}; });
}

void add_integers(Operations& to, const std::string& type, Compare compare) {
  const bool is_bits = type.front() == 'b';
  for (const Comparison& row : kSigned) {
    if (!is_bits || (row.holds_for & kEqual) == row.holds_for || row.holds_for == (kLess | kGreater)) {
      add_comparison(to, row, type, type, compare);
    }
  }
  if (type.front() != 'u') return;
  for (const Comparison& row : kUnsigned) add_comparison(to, row, type, type, compare);
}

void add_floats(Operations& to, const std::string& suffix, const std::string& type, Compare compare) {
  for (const Comparison& row : kSigned) add_comparison(to, row, suffix, type, compare);
  for (const Comparison& row : kFloat) add_comparison(to, row, suffix, type, compare);
}

// With a third operand, negated or not, and the second destination, which gets the complement.
void add_combinations(Operations& to) {
  using Combine = Word (*)(Word a, Word b);
  const struct {
    const char* name;
    Combine combine;
  } rows[] = {{"and", [](Word a, Word b) { return a & b; }},
              {"or", [](Word a, Word b) { return a | b; }},
              {"xor", [](Word a, Word b) { return a ^ b; }}};
  const auto less = [](const Word* x) {
    return Word{static_cast<std::int32_t>(x[0]) < static_cast<std::int32_t>(x[1])};
  };
  for (const auto& row : rows) {
    const std::string name = std::string("setp.lt.") + row.name + ".s32";
    const Combine combine = row.combine;
    add(to, name, "pred", {"s32", "s32", "pred"}, [=](const Word* x) { return combine(less(x), x[2]); });
    add_text(to, name + " !", name + " $d, $a, $b, !$c;", "pred", {"s32", "s32", "pred"},
             [=](const Word* x) { return combine(less(x), x[2] ^ 1); });
    add_text(to, name + " p|q", "{ .reg .pred other; " + name + " other|$d, $a, $b, $c; }", "pred",
             {"s32", "s32", "pred"}, [=](const Word* x) { return combine(less(x) ^ 1, x[2]); });
  }
  add_text(to, "setp.lt.s32 p|q", "{ .reg .pred other; setp.lt.s32 other|$d, $a, $b; }", "pred",
           {"s32", "s32"}, [=](const Word* x) { return less(x) ^ 1; });
  add_text(to, "setp.nan.f32 p|q",
           "{ .reg .pred other; setp.nan.f32 $d|other, $a, $b; xor.pred $d, $d, other; }", "pred",
           {"f32", "f32"}, [](const Word*) { return Word{1}; });
}

void add_set(Operations& to, const Comparison& row) {
  const unsigned holds_for = row.holds_for;
  const auto holds = [=](unsigned found) { return (found & holds_for) != 0; };
  const std::string name = std::string("set.") + row.name;
  add(to, name + ".u32.f32", "u32", {"f32", "f32"},
      [=](const Word* x) { return holds(order_floats<kF32, false>(x[0], x[1])) ? Word{0xffffffff} : 0; });
  add(to, name + ".f32.f32", "f32", {"f32", "f32"},
      [=](const Word* x) { return holds(order_floats<kF32, false>(x[0], x[1])) ? Word{0x3f800000} : 0; });
  const auto both = [&](const std::string& type, Compare compare, Word one) {
    add(to, name + "." + type + "." + type, "b32", {type, type}, [=](const Word* x) {
      const Word low = holds(compare(x[0] & 0xffff, x[1] & 0xffff)) ? one : 0;
      return low | (holds(compare(x[0] >> 16, x[1] >> 16)) ? one : 0) << 16;
    });
  };
  both("f16x2", order_floats<kF16, false>, 0x3c00);
  both("bf16x2", order_floats<kBf16, false>, 0x3f80);
}

void add_sets(Operations& to) {
  for (const Comparison& row : kSigned) {
    add_set(to, row);
    const unsigned holds_for = row.holds_for;
    add(to, std::string("set.") + row.name + ".u32.s32", "u32", {"s32", "s32"}, [=](const Word* x) {
      return (order<std::int32_t>(x[0], x[1]) & holds_for) != 0 ? Word{0xffffffff} : 0;
    });
  }
  for (const Comparison& row : kFloat) {
    if ((row.holds_for & kUnordered) != 0 && row.holds_for != kUnordered) add_set(to, row);
  }
}

}  // namespace

Operations comparison_operations() {
  Operations to;
  add_integers(to, "b16", order<std::uint16_t>);
  add_integers(to, "u16", order<std::uint16_t>);
  add_integers(to, "s16", order<std::int16_t>);
  add_integers(to, "b32", order<std::uint32_t>);
  add_integers(to, "u32", order<std::uint32_t>);
  add_integers(to, "s32", order<std::int32_t>);
  add_integers(to, "b64", order<std::uint64_t>);
  add_integers(to, "u64", order<std::uint64_t>);
  add_integers(to, "s64", order<std::int64_t>);
  add_floats(to, "f32", "f32", order_floats<kF32, false>);
  add_floats(to, "ftz.f32", "f32", order_floats<kF32, true>);
  add_floats(to, "f64", "f64", order_floats<kF64, false>);
  add_floats(to, "f16", "f16", order_floats<kF16, false>);
  add_floats(to, "ftz.f16", "f16", order_floats<kF16, true>);
  add_floats(to, "bf16", "bf16", order_floats<kBf16, false>);
  add_combinations(to);
  add_sets(to);
  return to;
}

}  // namespace softgpu::ops
