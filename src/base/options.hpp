// What the user may set, read once from TENCACHE_* variables. Called by the doors at the first cuInit, by the
// command `tencache` and by tests, which hand in an environment of their own. Thread rule: read before other
// threads see it, constant afterwards. Failure rule: a wrong value or unknown name is logged once and the
// default kept; under TENCACHE_STRICT=on `refused` is set as well. Nothing here allocates.
#pragma once

#include <span>
#include <string_view>

#include "src/base/log.hpp"
#include "src/base/value_text.hpp"

namespace tencache {

enum class Census : std::uint8_t { kLearn, kAlways, kOff };
enum class MemoryReport : std::uint8_t { kReal, kVirtual };

template <>
inline constexpr std::array<const char*, 3> kChoiceNames<Census>{"learn", "always", "off"};
template <>
inline constexpr std::array<const char*, 2> kChoiceNames<MemoryReport>{"real", "virtual"};
template <>
inline constexpr std::array<const char*, 5> kChoiceNames<LogLevel>{"off", "error", "warn", "info", "debug"};

// Made by default_options() or read_options(); a bare Options{} has no defaults in it.
struct Options {
#define TENCACHE_OPTION(member, name, Type, default_text, visibility, help, details) Type member{};
#include "src/base/options.def"
#undef TENCACHE_OPTION
};

enum class Visibility : std::uint8_t { kPublished, kAdvanced };

struct OptionRow {
  const char* name;
  const char* default_text;
  Visibility visibility;
  const char* help;
  const char* details;
  Status (*parse)(std::string_view text, Options* options);  // writes on success only
  void (*print)(const Options& options, TextWriter& out);
  void (*print_form)(TextWriter& out);  // what values it takes
};

[[nodiscard]] std::span<const OptionRow> option_rows();
[[nodiscard]] const OptionRow* find_option(std::string_view name);
// The option whose name is least edits away from `name`; null when none is near.
[[nodiscard]] const OptionRow* nearest_option(std::string_view name);

[[nodiscard]] Options default_options();

struct OptionsReading {
  Options options;
  unsigned wrong_values = 0;
  unsigned unknown_names = 0;
  bool refused = false;  // strict, and one of the above
};
// `environment` as `environ`: "NAME=value" strings, ended by null. Sets the log's level first of all.
[[nodiscard]] OptionsReading read_options(const char* const* environment);

}  // namespace tencache
