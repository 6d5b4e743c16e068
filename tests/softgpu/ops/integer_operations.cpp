// Integer arithmetic, all in 128 bits.
#include <fmt/format.h>

#include "tests/softgpu/ops/operation.hpp"

namespace softgpu::ops {
namespace {

using Wide = __int128;

bool is_signed(const std::string& type) { return type.front() == 's'; }

Wide value_of(const std::string& type, std::uint64_t bits) {
  const unsigned width = width_of(type);
  const Wide value = static_cast<Wide>(width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1));
  const Wide top = static_cast<Wide>(1) << (width - 1);
  return is_signed(type) && (value & top) != 0 ? value - 2 * top : value;
}

std::uint64_t truncated(const std::string& type, Wide value) {
  const unsigned width = width_of(type);
  return width == 64 ? static_cast<std::uint64_t>(value)
                     : static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << width) - 1);
}

using Function = Wide (*)(Wide a, Wide b, Wide c);

Reference on(const std::string& type, Function function, const std::string& result) {
  return [=](const std::uint64_t* x) {
    return truncated(result, function(value_of(type, x[0]), value_of(type, x[1]), value_of(result, x[2])));
  };
}

Wide clamp(Wide value) { return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value; }
Wide distance(Wide a, Wide b, Wide c) { return c + (a < b ? b - a : a - b); }
// PTX leaves a division by zero open; NVIDIA's assembler folds quotient and remainder to all ones.
Wide divide(Wide a, Wide b, Wide) { return b == 0 ? Wide(-1) : a / b; }
Wide remainder(Wide a, Wide b, Wide) { return b == 0 ? Wide(-1) : a % b; }

void add_plain(Operations& to, const std::string& type) {
  const auto binary = [&](const std::string& name, Function function) {
    add(to, name + "." + type, type, {type, type}, on(type, function, type));
  };
  binary("add", [](Wide a, Wide b, Wide) { return a + b; });
  binary("sub", [](Wide a, Wide b, Wide) { return a - b; });
  binary("mul.lo", [](Wide a, Wide b, Wide) {
    return static_cast<Wide>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
  });
  binary("div", divide);
  binary("rem", remainder);
  binary("min", [](Wide a, Wide b, Wide) { return a < b ? a : b; });
  binary("max", [](Wide a, Wide b, Wide) { return a > b ? a : b; });
  add(to, "mad.lo." + type, type, {type, type, type},
      on(
          type,
          [](Wide a, Wide b, Wide c) {
            return static_cast<Wide>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b) +
                                     static_cast<unsigned __int128>(c));
          },
          type));
  if (width_of(type) == 32) add(to, "sad." + type, type, {type, type, type}, on(type, distance, type));
  if (!is_signed(type)) return;
  add(to, "neg." + type, type, {type},
      on(
          type, [](Wide a, Wide, Wide) { return -a; }, type));
  add(to, "abs." + type, type, {type},
      on(
          type, [](Wide a, Wide, Wide) { return a < 0 ? -a : a; }, type));
}

// The upper half of a product; of 64-bit operands by parts, for it has 128 bits with its sign.
Wide high_half(const std::string& type, std::uint64_t a, std::uint64_t b) {
  const unsigned width = width_of(type);
  if (width < 64) return (value_of(type, a) * value_of(type, b)) >> width;
  const auto product = static_cast<unsigned __int128>(a) * b;
  Wide high = static_cast<Wide>(product >> 64);
  if (is_signed(type) && static_cast<std::int64_t>(a) < 0) high -= static_cast<Wide>(b);
  if (is_signed(type) && static_cast<std::int64_t>(b) < 0) high -= static_cast<Wide>(a);
  return high;
}

void add_high(Operations& to, const std::string& type) {
  add(to, "mul.hi." + type, type, {type, type},
      [=](const std::uint64_t* x) { return truncated(type, high_half(type, x[0], x[1])); });
  add(to, "mad.hi." + type, type, {type, type, type}, [=](const std::uint64_t* x) {
    return truncated(type, high_half(type, x[0], x[1]) + value_of(type, x[2]));
  });
}

void add_wide(Operations& to, const std::string& type, const std::string& result) {
  add(to, "mul.wide." + type, result, {type, type},
      on(
          type, [](Wide a, Wide b, Wide) { return a * b; }, result));
  add(to, "mad.wide." + type, result, {type, type, result},
      on(
          type, [](Wide a, Wide b, Wide c) { return a * b + c; }, result));
}

void add_saturating(Operations& to) {
  add(to, "add.sat.s32", "s32", {"s32", "s32"},
      on(
          "s32", [](Wide a, Wide b, Wide) { return clamp(a + b); }, "s32"));
  add(to, "sub.sat.s32", "s32", {"s32", "s32"},
      on(
          "s32", [](Wide a, Wide b, Wide) { return clamp(a - b); }, "s32"));
}

Wide low24(const std::string& type, std::uint64_t bits) {
  const Wide value = static_cast<Wide>(bits & 0xffffff);
  return is_signed(type) && (bits & 0x800000) != 0 ? value - 0x1000000 : value;
}

void add_24_bit(Operations& to, const std::string& type) {
  add(to, "mul24.lo." + type, type, {type, type},
      [=](const std::uint64_t* x) { return truncated(type, low24(type, x[0]) * low24(type, x[1])); });
}

// Two instructions each: the carry must get from the first to the second.
void add_carries(Operations& to, const std::string& type) {
  const unsigned width = width_of(type);
  const auto carry = [width](Wide value) {
    return static_cast<Wide>(static_cast<unsigned __int128>(value) >> width & 1);
  };
  const std::string unsigned_type = type, register_type = width == 64 ? "b64" : "b32";
  const auto pair = [&](const std::string& first, const std::string& second, Reference reference) {
    add_text(to, first + "." + type + " " + second,
             "{ .reg ." + register_type + " low; " + first + "." + type + " low, $a, $b; " + second + "." +
                 type + " $d, $c, $e; }",
             unsigned_type, {unsigned_type, unsigned_type, unsigned_type, unsigned_type},
             std::move(reference));
  };
  const auto number = [type](std::uint64_t bits) { return value_of(type, bits); };
  pair("add.cc", "addc", [=](const std::uint64_t* x) {
    return truncated(type, number(x[2]) + number(x[3]) + carry(number(x[0]) + number(x[1])));
  });
  pair("sub.cc", "subc", [=](const std::uint64_t* x) {
    return truncated(type, number(x[2]) - number(x[3]) - carry(number(x[0]) - number(x[1])));
  });
  // The carry behind the middle one of three.
  add_text(to, "addc.cc." + type,
           "{ .reg ." + register_type + " low; add.cc." + type + " low, $a, $b; addc.cc." + type +
               " low, $c, $e; addc." + type + " $d, 0, 0; }",
           type, {type, type, type, type}, [=](const std::uint64_t* x) {
             return truncated(type, carry(number(x[2]) + number(x[3]) + carry(number(x[0]) + number(x[1]))));
           });
  add_text(to, "subc.cc." + type,
           "{ .reg ." + register_type + " low; sub.cc." + type + " low, $a, $b; subc.cc." + type +
               " low, $c, $e; subc." + type + " $d, 0, 0; }",
           type, {type, type, type, type}, [=](const std::uint64_t* x) {
             return truncated(type, -carry(number(x[2]) - number(x[3]) - carry(number(x[0]) - number(x[1]))));
           });
}

void add_multiply_carries(Operations& to) {
  const auto low = [](std::uint64_t a, std::uint64_t b) {
    return (a & 0xffffffff) * (b & 0xffffffff) & 0xffffffff;
  };
  const auto high = [](std::uint64_t a, std::uint64_t b) {
    return (a & 0xffffffff) * (b & 0xffffffff) >> 32;
  };
  add_text(to, "mad.lo.cc.u32 madc.hi",
           "{ .reg .b32 low; mad.lo.cc.u32 low, $a, $b, $c; madc.hi.u32 $d, $a, $b, $e; }", "u32",
           {"u32", "u32", "u32", "u32"}, [=](const std::uint64_t* x) {
             const std::uint64_t carry = (low(x[0], x[1]) + x[2]) >> 32;
             return (high(x[0], x[1]) + x[3] + carry) & 0xffffffff;
           });
  add_text(to, "madc.lo.cc.u32",
           "{ .reg .b32 low; add.cc.u32 low, $a, $a; madc.lo.cc.u32 low, $a, $b, $c; madc.hi.cc.u32 low, $b, "
           "$e, low; addc.u32 $d, $e, 0; }",
           "u32", {"u32", "u32", "u32", "u32"}, [=](const std::uint64_t* x) {
             const std::uint64_t first = (x[0] + x[0]) >> 32;
             const std::uint64_t second = low(x[0], x[1]) + x[2] + first;
             const std::uint64_t third = high(x[1], x[3]) + (second & 0xffffffff) + (second >> 32);
             return (x[3] + (third >> 32)) & 0xffffffff;
           });
}

Wide dot4(const std::string& a_type, const std::string& b_type, std::uint64_t a, std::uint64_t b) {
  Wide sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += value_of(a_type, a >> (8 * i) & 0xff) * value_of(b_type, b >> (8 * i) & 0xff);
  return sum;
}

void add_dot_products(Operations& to) {
  for (const std::string sign : {"s", "u"}) {
    const std::string type = sign + "32", byte = sign + "8";
    add(to, fmt::format("dp4a.{0}.{0}", type), type, {type, type, type}, [=](const std::uint64_t* x) {
      return truncated(type, dot4(byte, byte, x[0], x[1]) + value_of(type, x[2]));
    });
  }
}

}  // namespace

Operations integer_operations() {
  Operations to;
  for (const char* type : {"u16", "s16", "u32", "s32", "u64", "s64"}) {
    add_plain(to, type);
    add_high(to, type);
  }
  add_wide(to, "u16", "u32");
  add_wide(to, "s16", "s32");
  add_wide(to, "u32", "u64");
  add_wide(to, "s32", "s64");
  add_saturating(to);
  add_24_bit(to, "u32");
  add_24_bit(to, "s32");
  for (const char* type : {"u32", "u64"}) add_carries(to, type);
  add_multiply_carries(to);
  add_dot_products(to);
  return to;
}

}  // namespace softgpu::ops
