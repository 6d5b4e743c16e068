// How values are written: `8GiB`, `75%`, `4ms`, `auto`, `inf`, `on`. One parse and one print per type; what
// print() writes parse() reads back as the same value. Called by the options and by tools that take such
// values. Thread rule: plain functions. Failure rule: a Status whose what() is a hint, complete in itself.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "src/base/status.hpp"
#include "src/base/text.hpp"
#include "src/base/units.hpp"

namespace tencache {

// An amount of memory that may be a share of something known only later.
class MemoryAmount {
 public:
  enum class Kind : std::uint8_t { kAutomatic, kBytes, kPercent, kUnlimited };
  constexpr MemoryAmount() = default;
  constexpr explicit MemoryAmount(Bytes bytes) : kind_(Kind::kBytes), count_(bytes.count()) {}
  static constexpr MemoryAmount percent(std::uint64_t percent) {
    return MemoryAmount(Kind::kPercent, percent);
  }
  static constexpr MemoryAmount automatic() { return MemoryAmount(Kind::kAutomatic, 0); }
  static constexpr MemoryAmount unlimited() { return MemoryAmount(Kind::kUnlimited, 0); }

  [[nodiscard]] constexpr Kind kind() const { return kind_; }
  [[nodiscard]] constexpr std::uint64_t count() const { return count_; }  // bytes or percent
  constexpr bool operator==(const MemoryAmount&) const = default;

  // What it comes to, where `whole` is all there is and `automatic` what `auto` means.
  [[nodiscard]] constexpr Bytes of(Bytes whole, Bytes automatic) const {
    switch (kind_) {
      case Kind::kAutomatic:
        return automatic;
      case Kind::kBytes:
        return Bytes(count_);
      case Kind::kPercent:
        return whole / 100 * count_;
      case Kind::kUnlimited:
        break;
    }
    return Bytes(UINT64_MAX);
  }

 private:
  constexpr MemoryAmount(Kind kind, std::uint64_t count) : kind_(kind), count_(count) {}
  Kind kind_ = Kind::kAutomatic;
  std::uint64_t count_ = 0;
};

inline constexpr Nanoseconds kUnlimitedTime{UINT64_MAX};

using PathText = FixedText<1024>;

// Where a report goes.
struct ReportTarget {
  enum class Kind : std::uint8_t { kNone, kStandardError, kFile };
  Kind kind = Kind::kNone;
  PathText path;  // kFile; `%p` stands for the process id
  constexpr bool operator==(const ReportTarget&) const = default;
};

// Specialise with the names of an enumeration's values, in their order, to make it a type of value.
template <class Enumeration>
inline constexpr std::array<const char*, 0> kChoiceNames{};

Result<bool> parse_value(std::string_view text, bool);
Result<Bytes> parse_value(std::string_view text, Bytes);
Result<Nanoseconds> parse_value(std::string_view text, Nanoseconds);
Result<MemoryAmount> parse_value(std::string_view text, MemoryAmount);
Result<PathText> parse_value(std::string_view text, const PathText&);
Result<ReportTarget> parse_value(std::string_view text, const ReportTarget&);

void print_value(bool value, TextWriter& out);
void print_value(Bytes value, TextWriter& out);
void print_value(Nanoseconds value, TextWriter& out);
void print_value(MemoryAmount value, TextWriter& out);
void print_value(const PathText& value, TextWriter& out);
void print_value(const ReportTarget& value, TextWriter& out);

// `Bytes` for a reader: three digits and a unit, 38.2 GiB.
void print_rounded(Bytes value, TextWriter& out);

bool equal_ignoring_case(std::string_view a, std::string_view b);

// parse<T>("…"): the overloads above, and enumerations.
template <class T>
Result<T> parse(std::string_view text) {
  if constexpr (kChoiceNames<T>.size() > 0) {
    for (std::size_t i = 0; i < kChoiceNames<T>.size(); ++i)
      if (equal_ignoring_case(text, kChoiceNames<T>[i])) return static_cast<T>(i);
    return Status(StatusCode::kInvalidArgument, "it is none of the choices");
  } else {
    return parse_value(text, T{});
  }
}

template <class T>
void print(const T& value, TextWriter& out) {
  if constexpr (kChoiceNames<T>.size() > 0) {
    out.append(kChoiceNames<T>[static_cast<std::size_t>(value)]);
  } else {
    print_value(value, out);
  }
}

}  // namespace tencache
