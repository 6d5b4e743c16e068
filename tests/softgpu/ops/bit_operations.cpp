// Bits moved, counted, shifted and selected, each bit by its definition.
#include "tests/softgpu/ops/operation.hpp"

namespace softgpu::ops {
namespace {

using Word = std::uint64_t;

Word mask_of(unsigned width) { return width == 64 ? ~Word{0} : (Word{1} << width) - 1; }
bool bit(Word x, unsigned index) { return (x >> index & 1) != 0; }
Word with_bit(bool value, unsigned index) { return Word{value} << index; }

// A bit of `x` at any distance: zeros outside, or copies of the topmost.
bool bit_or(Word x, unsigned width, std::int64_t index, bool outside) {
  return index >= 0 && index < width ? bit(x, static_cast<unsigned>(index)) : outside;
}

void add_logic(Operations& to, const std::string& type) {
  const Word mask = mask_of(width_of(type));
  const std::string carrier = type == "pred" ? "pred" : type;
  add(to, "and." + type, carrier, {carrier, carrier}, [](const Word* x) { return x[0] & x[1]; });
  add(to, "or." + type, carrier, {carrier, carrier}, [](const Word* x) { return x[0] | x[1]; });
  add(to, "xor." + type, carrier, {carrier, carrier}, [](const Word* x) { return x[0] ^ x[1]; });
  add(to, "not." + type, carrier, {carrier}, [mask](const Word* x) { return ~x[0] & mask; });
  add(to, "mov." + type, carrier, {carrier}, [](const Word* x) { return x[0]; });
  if (type == "pred") return;
  add(to, "cnot." + type, carrier, {carrier}, [](const Word* x) { return Word{x[0] == 0}; });
}

void add_moves(Operations& to) {
  for (const char* type : {"u16", "s16", "u32", "s32", "f32", "u64", "s64", "f64"}) {
    add(to, std::string("mov.") + type, type, {type}, [](const Word* x) { return x[0]; });
  }
  add_text(to, "mov.b32 {b16,b16}", "mov.b32 $d, {$a, $b};", "b32", {"b16", "b16"},
           [](const Word* x) { return x[0] | x[1] << 16; });
  add_text(to, "mov.b64 {b32,b32}", "mov.b64 $d, {$a, $b};", "b64", {"b32", "b32"},
           [](const Word* x) { return x[0] | x[1] << 32; });
  add_text(to, "mov.b64 {b16,b16,b16,b16}", "mov.b64 $d, {$a, $b, $c, $e};", "b64",
           {"b16", "b16", "b16", "b16"},
           [](const Word* x) { return x[0] | x[1] << 16 | x[2] << 32 | x[3] << 48; });
  add_text(to, "mov.b32 {low,_}",
           "{ .reg .b16 low, high; mov.b32 {low, high}, $a; mov.b32 $d, {high, low}; }", "b32", {"b32"},
           [](const Word* x) { return (x[0] >> 16 | x[0] << 16) & 0xffffffff; });
  add_text(to, "mov.b64 {low,high}",
           "{ .reg .b32 low, high; mov.b64 {low, high}, $a; mov.b64 $d, {high, low}; }", "b64", {"b64"},
           [](const Word* x) { return x[0] >> 32 | x[0] << 32; });
  add_text(to, "mov.b64 {_,high}", "mov.b64 {_, $d}, $a;", "b32", {"b64"},
           [](const Word* x) { return x[0] >> 32; });
  add_text(to, "mov.b64 {b16 x 4}",
           "{ .reg .b16 p, q, r, s; mov.b64 {p, q, r, s}, $a; mov.b64 $d, {s, r, q, p}; }", "b64", {"b64"},
           [](const Word* x) {
             return x[0] >> 48 | (x[0] >> 16 & 0xffff0000) | (x[0] << 16 & 0xffff00000000) | x[0] << 48;
           });
}

void add_shifts(Operations& to, const std::string& suffix) {
  const unsigned width = width_of(suffix);
  const bool is_signed = suffix.front() == 's';
  const auto shifted = [width](Word x, std::int64_t by, bool outside) {
    Word result = 0;
    for (unsigned i = 0; i < width; ++i)
      result |= with_bit(bit_or(x, width, i + by, i + by >= 0 && outside), i);
    return result;
  };
  add(to, "shr." + suffix, suffix, {suffix, "u32"}, [=](const Word* x) {
    return shifted(x[0], static_cast<std::int64_t>(x[1]), is_signed && bit(x[0], width - 1));
  });
  if (suffix.front() != 'b') return;
  add(to, "shl." + suffix, suffix, {suffix, "u32"},
      [=](const Word* x) { return shifted(x[0], -static_cast<std::int64_t>(x[1]), false); });
}

void add_counts(Operations& to, const std::string& width_name) {
  const std::string type = "b" + width_name;
  const unsigned width = width_of(type);
  add(to, "popc." + type, "u32", {type}, [=](const Word* x) {
    Word count = 0;
    for (unsigned i = 0; i < width; ++i) count += bit(x[0], i);
    return count;
  });
  add(to, "clz." + type, "u32", {type}, [=](const Word* x) {
    Word count = 0;
    while (count < width && !bit(x[0], width - 1 - static_cast<unsigned>(count))) ++count;
    return count;
  });
  add(to, "brev." + type, type, {type}, [=](const Word* x) {
    Word result = 0;
    for (unsigned i = 0; i < width; ++i) result |= with_bit(bit(x[0], i), width - 1 - i);
    return result;
  });
  for (const char* sign : {"u", "s"}) {
    // The topmost bit that is not a copy of the sign.
    const auto find = [=](const Word* x) {
      const bool fill = sign[0] == 's' && bit(x[0], width - 1);
      for (unsigned i = width; i-- > 0;) {
        if (bit(x[0], i) != fill) return static_cast<int>(i);
      }
      return -1;
    };
    add(to, "bfind." + (sign + width_name), "u32", {type},
        [=](const Word* x) { return static_cast<Word>(find(x)) & 0xffffffff; });
    add(to, "bfind.shiftamt." + (sign + width_name), "u32", {type}, [=](const Word* x) {
      const int found = find(x);
      return found < 0 ? Word{0xffffffff} : width - 1 - static_cast<Word>(found);
    });
  }
}

void add_fields(Operations& to, const std::string& width_name) {
  const std::string type = "b" + width_name;
  const unsigned width = width_of(type);
  add(to, "bfi." + type, type, {type, type, "u32", "u32"}, [=](const Word* x) {
    const unsigned position = x[2] & 0xff, length = x[3] & 0xff;
    Word result = 0;
    for (unsigned i = 0; i < width; ++i) {
      const bool inside = i >= position && i < position + length;
      result |= with_bit(inside ? bit(x[0], i - position) : bit(x[1], i), i);
    }
    return result;
  });
  for (const char* sign : {"u", "s"}) {
    add(to, "bfe." + (sign + width_name), type, {type, "u32", "u32"}, [=](const Word* x) {
      const unsigned position = x[1] & 0xff, length = x[2] & 0xff;
      const unsigned last = position + length - 1 < width - 1 ? position + length - 1 : width - 1;
      const bool fill = sign[0] == 's' && length != 0 && bit(x[0], last);
      Word result = 0;
      for (unsigned i = 0; i < width; ++i) {
        const bool inside = i < length && i + position < width;
        result |= with_bit(inside ? bit(x[0], i + position) : fill, i);
      }
      return result;
    });
  }
}

void add_masks(Operations& to) {
  for (const char* mode : {"clamp", "wrap"}) {
    add(to, std::string("bmsk.") + mode + ".b32", "b32", {"u32", "u32"}, [=](const Word* x) {
      const bool wraps = mode[0] == 'w';
      const Word position = wraps ? x[0] & 31 : x[0], length = wraps ? x[1] & 31 : x[1];
      Word result = 0;
      for (unsigned i = 0; i < 32; ++i) result |= with_bit(i >= position && i - position < length, i);
      return result;
    });
  }
}

void add_funnel_shifts(Operations& to) {
  for (const char* mode : {"clamp", "wrap"}) {
    const auto amount = [=](Word by) {
      return static_cast<unsigned>(mode[0] == 'w' ? by & 31 : by > 32 ? 32 : by);
    };
    add(to, std::string("shf.l.") + mode + ".b32", "b32", {"b32", "b32", "u32"}, [=](const Word* x) {
      const Word both = x[0] | x[1] << 32;
      Word result = 0;
      for (unsigned i = 0; i < 32; ++i)
        result |= with_bit(bit_or(both, 64, std::int64_t{32} + i - amount(x[2]), false), i);
      return result;
    });
    add(to, std::string("shf.r.") + mode + ".b32", "b32", {"b32", "b32", "u32"}, [=](const Word* x) {
      const Word both = x[0] | x[1] << 32;
      Word result = 0;
      for (unsigned i = 0; i < 32; ++i)
        result |= with_bit(bit_or(both, 64, std::int64_t{i} + amount(x[2]), false), i);
      return result;
    });
  }
}

// One byte of eight, or eight copies of its top bit.
Word selected_byte(Word pool, unsigned selector) {
  const Word byte = pool >> (8 * (selector & 7)) & 0xff;
  return (selector & 8) == 0 ? byte : bit(byte, 7) ? 0xff : 0;
}

void add_permutations(Operations& to) {
  add(to, "prmt.b32", "b32", {"b32", "b32", "b32"}, [](const Word* x) {
    Word result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      result |= selected_byte(x[0] | x[1] << 32, static_cast<unsigned>(x[2] >> (4 * i) & 15)) << (8 * i);
    }
    return result;
  });
}

void add_lookups(Operations& to) {
  for (const unsigned table : {0x00u, 0xffu, 0x80u, 0xfeu, 0x96u, 0xcau, 0xe8u, 0x1du}) {
    add_text(to, "lop3.b32 " + std::to_string(table),
             "lop3.b32 $d, $a, $b, $c, " + std::to_string(table) + ";", "b32", {"b32", "b32", "b32"},
             [=](const Word* x) {
               Word result = 0;
               for (unsigned i = 0; i < 32; ++i) {
                 const unsigned row = bit(x[0], i) * 4u + bit(x[1], i) * 2u + bit(x[2], i);
                 result |= with_bit(bit(table, row), i);
               }
               return result;
             });
  }
}

void add_selections(Operations& to) {
  for (const char* type : {"b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"}) {
    add(to, std::string("selp.") + type, type, {type, type, "pred"},
        [](const Word* x) { return x[2] != 0 ? x[0] : x[1]; });
  }
}

}  // namespace

Operations bit_operations() {
  Operations to;
  for (const char* type : {"pred", "b16", "b32", "b64"}) add_logic(to, type);
  add_moves(to);
  for (const char* type : {"b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64"})
    add_shifts(to, type);
  for (const char* width : {"32", "64"}) {
    add_counts(to, width);
    add_fields(to, width);
  }
  add_masks(to);
  add_funnel_shifts(to);
  add_permutations(to);
  add_lookups(to);
  add_selections(to);
  return to;
}

}  // namespace softgpu::ops
