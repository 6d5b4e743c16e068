// Quantities with a unit. Every interface of the project speaks Bytes and Nanoseconds, never naked integers.
// Called by everyone. Thread rule: plain values. Failure rule: nothing here fails; arithmetic is unsigned and
// the caller keeps differences non-negative.
#pragma once

#include <compare>
#include <cstdint>

namespace tencache {

template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(std::uint64_t count) : count_(count) {}
  [[nodiscard]] constexpr std::uint64_t count() const { return count_; }
  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) {
    count_ += other.count_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    count_ -= other.count_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, std::uint64_t factor) {
    return Quantity(a.count_ * factor);
  }
  friend constexpr Quantity operator/(Quantity a, std::uint64_t divisor) {
    return Quantity(a.count_ / divisor);
  }
  friend constexpr std::uint64_t operator/(Quantity a, Quantity b) { return a.count_ / b.count_; }

 private:
  std::uint64_t count_ = 0;
};

using Bytes = Quantity<struct BytesTag>;
using Nanoseconds = Quantity<struct NanosecondsTag>;

constexpr Bytes operator""_B(unsigned long long n) { return Bytes(n); }
constexpr Bytes operator""_KiB(unsigned long long n) { return Bytes(n << 10); }
constexpr Bytes operator""_MiB(unsigned long long n) { return Bytes(n << 20); }
constexpr Bytes operator""_GiB(unsigned long long n) { return Bytes(n << 30); }
constexpr Nanoseconds operator""_ns(unsigned long long n) { return Nanoseconds(n); }
constexpr Nanoseconds operator""_us(unsigned long long n) { return Nanoseconds(n * 1000); }
constexpr Nanoseconds operator""_ms(unsigned long long n) { return Nanoseconds(n * 1000000); }

// Rounds up to a multiple of `granularity` (> 0).
constexpr Bytes round_up(Bytes value, Bytes granularity) {
  return granularity * ((value.count() + granularity.count() - 1) / granularity.count());
}

}  // namespace tencache
