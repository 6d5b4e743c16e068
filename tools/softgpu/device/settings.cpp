#include "tools/softgpu/device/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "tools/softgpu/device/physical_memory.hpp"

namespace softgpu {
namespace {

struct Suffix {
  std::string_view text;
  double factor;
};

constexpr Suffix kByteSuffixes[] = {{"", 1},
                                    {"B", 1},
                                    {"KiB", 1024.0},
                                    {"MiB", 1048576.0},
                                    {"GiB", 1073741824.0},
                                    {"TiB", 1099511627776.0},
                                    {"KB", 1e3},
                                    {"MB", 1e6},
                                    {"GB", 1e9},
                                    {"TB", 1e12}};
constexpr Suffix kRateSuffixes[] = {{"/s", 1},      {"K/s", 1e3},         {"M/s", 1e6},
                                    {"G/s", 1e9},   {"T/s", 1e12},        {"B/s", 1},
                                    {"KB/s", 1e3},  {"MB/s", 1e6},        {"GB/s", 1e9},
                                    {"TB/s", 1e12}, {"MiB/s", 1048576.0}, {"GiB/s", 1073741824.0}};
constexpr Suffix kTimeSuffixes[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
constexpr Suffix kPercentSuffixes[] = {{"%", 1}, {"", 1}};

template <std::size_t n>
bool parse_scaled(const Suffix (&suffixes)[n], std::string_view text, std::uint64_t* value) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return false;
  const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  for (const Suffix& suffix : suffixes) {
    if (unit != suffix.text) continue;
    *value = static_cast<std::uint64_t>(std::llround(number * suffix.factor));
    return true;
  }
  return false;
}

bool parse_count(std::string_view text, std::uint64_t* value) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  const auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), *value, hexadecimal ? 16 : 10);
  return error == std::errc() && rest == text.data() + text.size();
}

const char* chosen_text(const char* (*lookup)(const char*), const char* variable, const char* standard) {
  const char* text = lookup(variable);
  return text != nullptr ? text : standard;
}

void read_one(SettingKind kind, const char* variable, const char* text, const char* standard,
              std::uint64_t* value) {
  if (parse_setting(kind, text, value)) return;
  const char* const wrong = kind == SettingKind::kPages ? "no multiple of 64KiB" : "not understood";
  std::fprintf(stderr, "softgpu: %s=%s is %s, using %s\n", variable, text, wrong, standard);
  parse_setting(kind, standard, value);
}

void read_one(SettingKind, const char*, const char* text, const char*, std::string* value) { *value = text; }

const char* from_environment(const char* variable) { return std::getenv(variable); }

}  // namespace

bool parse_setting(SettingKind kind, std::string_view text, std::uint64_t* value) {
  switch (kind) {
    case SettingKind::kBytes:
      return parse_scaled(kByteSuffixes, text, value);
    case SettingKind::kPages:
      return parse_scaled(kByteSuffixes, text, value) && *value > 0 && *value % kPageBytes == 0;
    case SettingKind::kRate:
      if (text == "instant") return *value = 0, true;
      return parse_scaled(kRateSuffixes, text, value) && *value > 0;
    case SettingKind::kTime:
      return parse_scaled(kTimeSuffixes, text, value);
    case SettingKind::kPercent:
      return parse_scaled(kPercentSuffixes, text, value) && *value > 0 && *value <= 100;
    case SettingKind::kSwitch:
      return parse_count(text, value) && *value <= 1;
    case SettingKind::kCount:
      return parse_count(text, value);
    case SettingKind::kText:
      break;
  }
  return false;
}

Settings read_settings(const char* (*lookup)(const char*)) {
  Settings result;
#define SOFTGPU_SETTING_READ(member, kind, variable, standard, help) \
  read_one(SettingKind::kind, variable, chosen_text(lookup, variable, standard), standard, &result.member);
  SOFTGPU_SETTINGS(SOFTGPU_SETTING_READ)
#undef SOFTGPU_SETTING_READ
  return result;
}

const Settings& settings() {
  static const Settings* const instance = [] {
    for (const std::string& name : unknown_settings(environ))
      std::fprintf(stderr, "softgpu: there is no %s; softgpu-settings prints what there is\n", name.c_str());
    return new Settings(read_settings(from_environment));
  }();
  return *instance;
}

std::vector<std::string> unknown_settings(char* const* environment) {
  constexpr std::string_view kKnown[] = {
#define SOFTGPU_SETTING_NAME(member, kind, variable, standard, help) variable,
      SOFTGPU_SETTINGS(SOFTGPU_SETTING_NAME)
#undef SOFTGPU_SETTING_NAME
  };
  std::vector<std::string> unknown;
  for (; *environment != nullptr; ++environment) {
    const std::string_view text(*environment);
    const std::string_view name = text.substr(0, text.find('='));
    if (name.starts_with("SOFTGPU_") &&
        std::find(std::begin(kKnown), std::end(kKnown), name) == std::end(kKnown))
      unknown.emplace_back(name);
  }
  return unknown;
}

bool is_listed(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == word) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

std::string settings_table() {
  std::string table = "| variable | default | meaning |\n| --- | --- | --- |\n";
#define SOFTGPU_SETTING_ROW(member, kind, variable, standard, help) \
  table += std::string("| `") + variable + "` | `" + standard + "` | " + help + " |\n";
  SOFTGPU_SETTINGS(SOFTGPU_SETTING_ROW)
#undef SOFTGPU_SETTING_ROW
  return table;
}

}  // namespace softgpu
