#include "src/base/value_text.hpp"

#include <algorithm>

namespace tencache {
namespace {

struct Unit {
  const char* name;
  std::uint64_t factor;
};

constexpr Unit kSizeUnits[] = {
    {"TiB", 1ull << 40}, {"GiB", 1ull << 30}, {"MiB", 1ull << 20}, {"KiB", 1ull << 10}, {"B", 1},
    {"T", 1ull << 40},   {"G", 1ull << 30},   {"M", 1ull << 20},   {"K", 1ull << 10},   {"TB", 1000000000000},
    {"GB", 1000000000},  {"MB", 1000000},     {"KB", 1000},
};
constexpr std::size_t kPrintedSizeUnits = 5;

constexpr Unit kTimeUnits[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};

constexpr Status refusal(const char* hint) { return Status(StatusCode::kInvalidArgument, hint); }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The number at the start of a text as digits / scale, and what follows it.
struct Number {
  std::uint64_t digits = 0;
  std::uint64_t scale = 1;
  std::string_view rest;
};

bool read_number(std::string_view text, Number* number) {
  constexpr std::size_t kMostDigits = 18;
  std::size_t at = 0, digits = 0;
  bool fraction = false;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !fraction)); ++at) {
    if (text[at] == '.') {
      fraction = true;
      continue;
    }
    if (++digits > kMostDigits) return false;
    number->digits = number->digits * 10 + static_cast<std::uint64_t>(text[at] - '0');
    if (fraction) number->scale *= 10;
  }
  if (at < text.size() && text[at] == ' ') ++at;
  number->rest = text.substr(at);
  return digits > 0;
}

// Number times unit, in the smallest unit; `hint` when it is no such thing.
Result<std::uint64_t> read_scaled(std::string_view text, std::span<const Unit> units, const char* hint) {
  Number number;
  if (!read_number(text, &number)) return refusal(hint);
  if (number.rest.empty() && number.digits == 0) return std::uint64_t{0};
  for (const Unit& unit : units) {
    if (!equal_ignoring_case(number.rest, unit.name)) continue;
    const unsigned __int128 value =
        static_cast<unsigned __int128>(number.digits) * unit.factor / number.scale;
    if (value >= UINT64_MAX) return refusal("it is too large");
    return static_cast<std::uint64_t>(value);
  }
  return refusal(hint);
}

// The largest unit that divides the value, so that nothing is lost.
void print_scaled(std::uint64_t value, std::span<const Unit> units, TextWriter& out) {
  const auto unit = std::find_if(units.begin(), units.end() - 1,
                                 [value](const Unit& u) { return value != 0 && value % u.factor == 0; });
  out.append("{}{}", value / unit->factor, unit->name);
}

constexpr const char* kSizeHint = "a size needs a unit, such as 8GiB or 512M";
constexpr const char* kTimeHint = "a time needs a unit, such as 4ms or 500us";
constexpr const char* kAmountHint = "it takes a size such as 8GiB, a share such as 75%, auto or inf";

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

Result<bool> parse_value(std::string_view text, bool) {
  for (const char* name : {"on", "1", "yes", "true"})
    if (equal_ignoring_case(text, name)) return true;
  for (const char* name : {"off", "0", "no", "false"})
    if (equal_ignoring_case(text, name)) return false;
  return refusal("it takes on or off");
}

Result<Bytes> parse_value(std::string_view text, Bytes) {
  const Result<std::uint64_t> count = read_scaled(text, kSizeUnits, kSizeHint);
  if (!count.ok()) return count.status();
  return Bytes(*count);
}

Result<Nanoseconds> parse_value(std::string_view text, Nanoseconds) {
  if (equal_ignoring_case(text, "inf")) return kUnlimitedTime;
  const Result<std::uint64_t> count = read_scaled(text, kTimeUnits, kTimeHint);
  if (!count.ok()) return count.status();
  return Nanoseconds(*count);
}

Result<MemoryAmount> parse_value(std::string_view text, MemoryAmount) {
  if (equal_ignoring_case(text, "auto")) return MemoryAmount::automatic();
  if (equal_ignoring_case(text, "inf")) return MemoryAmount::unlimited();
  Number number;
  if (read_number(text, &number) && number.rest == "%") {
    if (number.scale != 1 || number.digits > 100) return refusal("a share is a whole number from 0% to 100%");
    return MemoryAmount::percent(number.digits);
  }
  const Result<std::uint64_t> count =
      read_scaled(text, kSizeUnits, number.rest.empty() ? kSizeHint : kAmountHint);
  if (!count.ok()) return count.status();
  return MemoryAmount(Bytes(*count));
}

Result<PathText> parse_value(std::string_view text, const PathText&) {
  PathText path;
  if (!path.assign(text)) return refusal("it is too long");
  return path;
}

Result<ReportTarget> parse_value(std::string_view text, const ReportTarget&) {
  ReportTarget target;
  const Result<bool> as_switch = parse_value(text, bool{});
  if (as_switch.ok() || equal_ignoring_case(text, "stderr")) {
    if (!as_switch.ok() || *as_switch) target.kind = ReportTarget::Kind::kStandardError;
    return target;
  }
  target.kind = ReportTarget::Kind::kFile;
  if (text.empty() || !target.path.assign(text)) return refusal("it takes on, off or the path of a file");
  return target;
}

void print_value(bool value, TextWriter& out) { out.append(value ? "on" : "off"); }

void print_value(Bytes value, TextWriter& out) {
  print_scaled(value.count(), std::span(kSizeUnits).first(kPrintedSizeUnits), out);
}

void print_value(Nanoseconds value, TextWriter& out) {
  if (value == kUnlimitedTime) return out.append("inf");
  print_scaled(value.count(), kTimeUnits, out);
}

void print_value(MemoryAmount value, TextWriter& out) {
  switch (value.kind()) {
    case MemoryAmount::Kind::kAutomatic:
      return out.append("auto");
    case MemoryAmount::Kind::kBytes:
      return print_value(Bytes(value.count()), out);
    case MemoryAmount::Kind::kPercent:
      return out.append("{}%", value.count());
    case MemoryAmount::Kind::kUnlimited:
      return out.append("inf");
  }
}

void print_value(const PathText& value, TextWriter& out) { out.append(value.view()); }

void print_value(const ReportTarget& value, TextWriter& out) {
  switch (value.kind) {
    case ReportTarget::Kind::kNone:
      return out.append("off");
    case ReportTarget::Kind::kStandardError:
      return out.append("on");
    case ReportTarget::Kind::kFile:
      return out.append(value.path.view());
  }
}

void print_rounded(Bytes value, TextWriter& out) {
  for (const Unit& unit : std::span(kSizeUnits).first(kPrintedSizeUnits - 1)) {
    if (value.count() < unit.factor) continue;
    const double scaled = static_cast<double>(value.count()) / static_cast<double>(unit.factor);
    return out.append("{:.{}f} {}", scaled, scaled < 10 ? 2 : scaled < 100 ? 1 : 0, unit.name);
  }
  out.append("{} B", value.count());
}

}  // namespace tencache
