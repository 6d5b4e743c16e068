#include "tests/softgpu/ops/operation.hpp"

#include <algorithm>
#include <map>

namespace softgpu::ops {
namespace {

using Values = std::vector<std::uint64_t>;

Values integers(unsigned width) {
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  const std::uint64_t top = std::uint64_t{1} << (width - 1);
  Values values{0,
                1,
                2,
                3,
                5,
                7,
                15,
                16,
                17,
                31,
                32,
                33,
                63,
                64,
                65,
                100,
                127,
                128,
                255,
                0x1234567890abcdef,
                0xaaaaaaaaaaaaaaaa,
                0x5555555555555555,
                0x00ff00ff00ff00ff,
                0x8000000080000001};
  for (const std::uint64_t edge : {top, top >> 1, top >> (width / 2), std::uint64_t{1} << (width / 2)}) {
    values.insert(values.end(), {edge - 1, edge, edge + 1, 0 - edge});
  }
  for (std::uint64_t small = 1; small < 18; small += 3) values.push_back(0 - small);
  for (std::uint64_t& value : values) value &= mask;
  return values;
}

// Bits of a format with `precision` bits: zeros, subnormals, the edges of each range, ones, infinities and
// NaNs.
Values floats(unsigned width, unsigned precision) {
  const std::uint64_t one_exponent = std::uint64_t{1} << (precision - 1);
  const std::uint64_t top = std::uint64_t{1} << (width - 1);
  const std::uint64_t infinity = top - one_exponent;
  const std::uint64_t bias = (infinity / one_exponent - 1) / 2;
  const std::uint64_t one = bias * one_exponent;
  Values values{0,
                1,
                2,
                one_exponent / 2,
                one_exponent - 1,
                one_exponent,
                one_exponent + 1,
                3 * one_exponent,
                one / 2,
                one - one_exponent,
                one - 1,
                one,
                one + 1,
                one + one_exponent / 2,
                one + one_exponent,
                one + one_exponent * 3 / 2,
                one + 5 * one_exponent / 2,
                one + (precision - 2) * one_exponent + 1,
                one + (precision - 1) * one_exponent + 1,
                one + precision * one_exponent,
                infinity - one_exponent,
                infinity - 1,
                infinity,
                infinity + 1,
                infinity + one_exponent / 2,
                top - 1};
  // Around the limits of the integer types, as far as the format reaches.
  for (const std::uint64_t exponent : {7, 8, 15, 16, 31, 32, 63, 64}) {
    const std::uint64_t power = one + exponent * one_exponent;
    if (power + one_exponent < infinity) values.insert(values.end(), {power - 1, power, power + 1});
  }
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) values.push_back(values[i] | top);
  return values;
}

// Below 2^20, or no number.
bool is_angle(std::uint64_t bits) {
  const std::uint64_t exponent = bits >> 23 & 0xff;
  return exponent < 127 + 20 || exponent == 255;
}

Values pairs(const Values& halves) {
  Values values;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    values.push_back(halves[i] | halves[(i * 7 + 3) % halves.size()] << 16);
  }
  return values;
}

Values values_of(const std::string& type) {
  if (type == "pred") return {0, 1};
  if (type == "f64") return floats(64, 53);
  if (type == "f32" || type == "tf32") return floats(32, 24);
  if (type == "f32angle") {
    Values values = floats(32, 24);
    std::erase_if(values, [](std::uint64_t bits) { return !is_angle(bits); });
    return values;
  }
  if (type == "f16") return floats(16, 11);
  if (type == "bf16") return floats(16, 8);
  if (type == "f16x2") return pairs(floats(16, 11));
  if (type == "bf16x2") return pairs(floats(16, 8));
  return integers(width_of(type));
}

}  // namespace

void add_text(Operations& to, const std::string& name, const std::string& text, const std::string& result,
              std::vector<std::string> sources, Reference reference) {
  to.push_back({name, text, result, std::move(sources), std::move(reference)});
}

void add(Operations& to, const std::string& name, const std::string& result, std::vector<std::string> sources,
         Reference reference) {
  std::string text = name + " $d";
  for (std::size_t i = 0; i < sources.size(); ++i) text.append(", $").append(1, "abce"[i]);
  add_text(to, name, text + ";", result, std::move(sources), std::move(reference));
}

unsigned width_of(const std::string& type) {
  if (type == "pred") return 1;
  if (type.ends_with("64")) return 64;
  if (type == "f32angle" || type.ends_with("32") || type.ends_with("x2")) return 32;
  return type.ends_with("16") ? 16 : 8;
}

std::uint64_t random_value(const std::string& type, std::uint64_t bits) {
  const std::uint64_t value = bits & (~std::uint64_t{0} >> (64 - width_of(type)));
  return type == "f32angle" && !is_angle(value) ? value & ~std::uint64_t{0x40000000} : value;
}

const Values& hard_values(const std::string& type) {
  static std::map<std::string, Values> cache;
  auto [entry, fresh] = cache.try_emplace(type);
  if (fresh) {
    entry->second = values_of(type);
    Values& values = entry->second;
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }
  return entry->second;
}

}  // namespace softgpu::ops
