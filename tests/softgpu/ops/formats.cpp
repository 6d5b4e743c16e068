#include "tests/softgpu/ops/formats.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace softgpu::ops {
namespace {

using Wide = unsigned __int128;

constexpr int kQuadFraction = 112, kQuadBias = 16383;

Wide bits_of(Quad value) {
  Wide bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
Quad quad_of(Wide bits) {
  Quad value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
Quad power_of_two(int exponent) { return quad_of(static_cast<Wide>(exponent + kQuadBias) << kQuadFraction); }
Quad infinity() { return quad_of(static_cast<Wide>(0x7fff) << kQuadFraction); }

int exponent_of(Quad value) { return static_cast<int>(bits_of(value) >> kQuadFraction & 0x7fff) - kQuadBias; }

bool rounds_up(Wide kept, Wide dropped, Wide half, bool negative, Rounding rounding) {
  switch (rounding) {
    case Rounding::kNearest:
      return dropped > half || (dropped == half && (kept & 1) != 0);
    case Rounding::kNearestAway:
      return dropped >= half;
    case Rounding::kZero:
      return false;
    case Rounding::kDown:
      return negative && dropped != 0;
    case Rounding::kUp:
      return !negative && dropped != 0;
  }
  return false;
}

// The magnitude times four, so that a rest shows: of the quadruple's 113 bits and its exponent.
Wide significand(Quad magnitude, int rest) {
  const Wide fraction = bits_of(magnitude) & ((static_cast<Wide>(1) << kQuadFraction) - 1);
  const Wide whole = (fraction | static_cast<Wide>(1) << kQuadFraction) << 2;
  return rest < 0 ? whole - 1 : whole + static_cast<Wide>(rest);
}

std::uint64_t overflow(const Format& format, bool negative, Rounding rounding) {
  const std::uint64_t infinite = ((std::uint64_t{1} << format.exponent_bits) - 1) << (format.precision - 1);
  const bool stays = rounding == Rounding::kZero || rounding == (negative ? Rounding::kUp : Rounding::kDown);
  return stays ? infinite - 1 : infinite;
}

std::uint64_t encode_magnitude(const Format& format, Quad magnitude, int rest, bool negative,
                               Rounding rounding) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int exponent = std::max(exponent_of(magnitude), 1 - bias);
  const Wide whole = significand(magnitude, rest);
  // Bits below the last of the result, of which the significand has 114 behind its first.
  const int drop =
      std::min(exponent - exponent_of(magnitude) + kQuadFraction + 2 - (format.precision - 1), 126);
  const Wide dropped = whole & ((static_cast<Wide>(1) << drop) - 1);
  Wide kept = whole >> drop;
  if (rounds_up(kept, dropped, static_cast<Wide>(1) << (drop - 1), negative, rounding)) ++kept;
  // A carry out of the fraction moves into the exponent, as it should.
  const Wide result = (static_cast<Wide>(exponent + bias - 1) << (format.precision - 1)) + kept;
  const Wide infinite = ((static_cast<Wide>(1) << format.exponent_bits) - 1) << (format.precision - 1);
  if (exponent > bias || result >= infinite) return overflow(format, negative, rounding);
  return static_cast<std::uint64_t>(result);
}

}  // namespace

std::uint64_t sign_bit(const Format& format) {
  return std::uint64_t{1} << (format.precision - 1 + format.exponent_bits + format.shift);
}

Quad decode(const Format& format, std::uint64_t bits) {
  const std::uint64_t raw = (bits & (sign_bit(format) - 1)) >> format.shift;
  const std::uint64_t fraction = raw & ((std::uint64_t{1} << (format.precision - 1)) - 1);
  const int exponent = static_cast<int>(raw >> (format.precision - 1));
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  Quad value;
  if (exponent == (1 << format.exponent_bits) - 1) {
    value = fraction == 0 ? infinity() : infinity() - infinity();
  } else if (exponent == 0) {
    value = static_cast<Quad>(fraction) * power_of_two(2 - bias - format.precision);
  } else {
    const std::uint64_t whole = fraction | std::uint64_t{1} << (format.precision - 1);
    value = static_cast<Quad>(whole) * power_of_two(exponent - bias - (format.precision - 1));
  }
  return (bits & sign_bit(format)) != 0 ? -value : value;
}

std::uint64_t encode(const Format& format, const Exact& exact, Rounding rounding) {
  if (exact.value != exact.value) return format.nan;
  const bool negative = is_negative(exact.value);
  const Quad magnitude = negative ? -exact.value : exact.value;
  const std::uint64_t infinite = ((std::uint64_t{1} << format.exponent_bits) - 1) << (format.precision - 1);
  std::uint64_t bits = 0;
  if (!is_finite(magnitude)) {
    bits = infinite;
  } else if (magnitude != 0) {
    bits = encode_magnitude(format, magnitude, negative ? -exact.rest : exact.rest, negative, rounding);
  }
  return bits << format.shift | (negative ? sign_bit(format) : 0);
}

bool is_nan(const Format& format, std::uint64_t bits) {
  const Quad value = decode(format, bits);
  return value != value;
}

bool is_subnormal(const Format& format, std::uint64_t bits) {
  const std::uint64_t least_normal = std::uint64_t{1} << (format.precision - 1 + format.shift);
  const std::uint64_t magnitude = bits & (sign_bit(format) - 1);
  return magnitude != 0 && magnitude < least_normal;
}

std::uint64_t flush(const Format& format, std::uint64_t bits) {
  return is_subnormal(format, bits) ? bits & sign_bit(format) : bits;
}

bool is_negative(Quad value) { return (bits_of(value) >> 127) != 0; }

bool is_finite(Quad value) { return value - value == 0; }

Exact add(Quad a, Quad b, Rounding rounding) {
  const Quad sum = a + b;
  if (sum == 0 && is_finite(sum)) {
    const bool both_negative = is_negative(a) && is_negative(b);
    const bool negative =
        both_negative || (rounding == Rounding::kDown && (is_negative(a) || is_negative(b)));
    return {negative ? -Quad(0) : Quad(0), 0};
  }
  if (!is_finite(sum)) return {sum, 0};
  // What the sum lost, exactly (Knuth).
  const Quad b_part = sum - a, a_part = sum - b_part;
  const Quad lost = (a - a_part) + (b - b_part);
  return {sum, lost > 0 ? 1 : lost < 0 ? -1 : 0};
}

Exact fused(Quad a, Quad b, Quad c, Rounding rounding) { return add(a * b, c, rounding); }

Quad square_root(Quad value) {
  if (value == 0 || value != value || value == infinity()) return value;
  if (value < 0) return infinity() - infinity();
  Quad root = static_cast<Quad>(std::sqrt(static_cast<long double>(value)));
  for (int i = 0; i < 3; ++i) root = (root + value / root) / 2;
  // An exact root has few bits: the rounding to a double finds it.
  const Quad narrow = decode(kF64, encode(kF64, {root, 0}));
  return narrow * narrow == value ? narrow : root;
}

Quad round_to_integer(Quad value, Rounding rounding) {
  if (value != value || !is_finite(value) || value == 0) return value;
  const bool negative = is_negative(value);
  const Quad magnitude = negative ? -value : value;
  if (magnitude >= power_of_two(kQuadFraction)) return value;
  const Wide whole = static_cast<Wide>(magnitude);
  const Quad fraction = magnitude - static_cast<Quad>(whole);
  const Wide dropped = fraction == 0 ? 0 : fraction < Quad(0.5) ? 1 : fraction == Quad(0.5) ? 2 : 3;
  const Quad rounded =
      static_cast<Quad>(rounds_up(whole, dropped, 2, negative, rounding) ? whole + 1 : whole);
  return negative ? -rounded : rounded;
}

}  // namespace softgpu::ops
