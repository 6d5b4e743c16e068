#include "src/base/options.hpp"

#include <algorithm>

namespace tencache {
namespace {

constexpr std::string_view kPrefix = "TENCACHE";

template <class T>
void print_form_of(TextWriter& out) {
  for (std::size_t i = 0; i < kChoiceNames<T>.size(); ++i)
    out.append("{}{}", i > 0 ? ", " : "", kChoiceNames<T>[i]);
}
template <>
void print_form_of<bool>(TextWriter& out) {
  out.append("on, off");
}
template <>
void print_form_of<Bytes>(TextWriter& out) {
  out.append("size");
}
template <>
void print_form_of<Nanoseconds>(TextWriter& out) {
  out.append("time, inf");
}
template <>
void print_form_of<MemoryAmount>(TextWriter& out) {
  out.append("size, %, auto, inf");
}
template <>
void print_form_of<PathText>(TextWriter& out) {
  out.append("text");
}
template <>
void print_form_of<ReportTarget>(TextWriter& out) {
  out.append("on, off, file");
}

template <class T, T Options::*Member>
Status parse_into(std::string_view text, Options* options) {
  const Result<T> value = parse<T>(text);
  if (!value.ok()) return value.status();
  options->*Member = *value;
  return {};
}

template <class T, T Options::*Member>
void print_from(const Options& options, TextWriter& out) {
  print(options.*Member, out);
}

constexpr OptionRow kRows[] = {
#define TENCACHE_OPTION(member, name, Type, default_text, visibility, help, details) \
  {name,                                                                             \
   default_text,                                                                     \
   Visibility::visibility,                                                           \
   help,                                                                             \
   details,                                                                          \
   parse_into<Type, &Options::member>,                                               \
   print_from<Type, &Options::member>,                                               \
   print_form_of<Type>},
#include "src/base/options.def"
#undef TENCACHE_OPTION
};

// Levenshtein's distance; names longer than any option's are far from all.
unsigned edit_distance(std::string_view a, std::string_view b) {
  constexpr std::size_t kLongest = 64;
  if (a.size() >= kLongest || b.size() >= kLongest) return kLongest;
  std::array<unsigned, kLongest + 1> row{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<unsigned>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    unsigned diagonal = row[0];
    row[0] = static_cast<unsigned>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const unsigned replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

bool is_ours(std::string_view name) {
  return name.starts_with(kPrefix) && (name.size() == kPrefix.size() || name[kPrefix.size()] == '_');
}

void report_unknown(std::string_view name) {
  if (const OptionRow* nearest = nearest_option(name); nearest != nullptr)
    return log::warn("unknown option {} is ignored; did you mean {}?", name, nearest->name);
  log::warn("unknown option {} is ignored; `tencache options` lists them all", name);
}

void report_wrong(const OptionRow& row, std::string_view text, const Status& status) {
  std::array<char, 64> buffer;
  TextWriter form(buffer);
  row.print_form(form);
  const std::string_view kept = row.default_text;
  log::warn("{}={} is wrong: {}; {} is used instead; it takes: {}", row.name, text, status.what(),
            kept.empty() ? "the default" : kept, form.view());
}

void read_entry(std::string_view entry, OptionsReading* reading) {
  const std::size_t equals = entry.find('=');
  if (equals == std::string_view::npos || !is_ours(entry.substr(0, equals))) return;
  const std::string_view name = entry.substr(0, equals), text = entry.substr(equals + 1);
  const OptionRow* row = find_option(name);
  if (row == nullptr) {
    ++reading->unknown_names;
    return report_unknown(name);
  }
  if (const Status status = row->parse(text, &reading->options); !status.ok()) {
    ++reading->wrong_values;
    report_wrong(*row, text, status);
  }
}

// Before anything is said: the level at which it is said.
void read_log_level(const char* const* environment) {
  constexpr std::string_view kName = "TENCACHE_LOG=";
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (!entry.starts_with(kName)) continue;
    const Result<LogLevel> level = parse<LogLevel>(entry.substr(kName.size()));
    if (level.ok()) log::set_level(*level);
  }
}

}  // namespace

std::span<const OptionRow> option_rows() { return kRows; }

const OptionRow* find_option(std::string_view name) {
  const auto row =
      std::find_if(std::begin(kRows), std::end(kRows), [name](const OptionRow& r) { return name == r.name; });
  return row == std::end(kRows) ? nullptr : &*row;
}

const OptionRow* nearest_option(std::string_view name) {
  const OptionRow* nearest = nullptr;
  unsigned least = 3 + static_cast<unsigned>(name.size()) / 16;  // farther ones are no slip of a finger
  for (const OptionRow& row : kRows) {
    const unsigned distance = edit_distance(name, row.name);
    if (distance < least) least = distance, nearest = &row;
  }
  return nearest;
}

Options default_options() {
  Options options;
  for (const OptionRow& row : kRows) (void)row.parse(row.default_text, &options);
  return options;
}

OptionsReading read_options(const char* const* environment) {
  OptionsReading reading;
  reading.options = default_options();
  read_log_level(environment);
  for (const char* const* entry = environment; *entry != nullptr; ++entry) read_entry(*entry, &reading);
  reading.refused = reading.options.strict && (reading.wrong_values > 0 || reading.unknown_names > 0);
  if (reading.refused)
    log::error("TENCACHE_STRICT is on: nothing is started; correct the options named above");
  return reading;
}

}  // namespace tencache
