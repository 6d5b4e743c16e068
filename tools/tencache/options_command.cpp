// `tencache options`: the table of options with what each is set to now, or as the text of docs/options.md.
#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "policy/registry.hpp"
#include "src/base/options.hpp"
#include "tools/tencache/command.hpp"

namespace tencache::command {
namespace {

std::string form_of(const OptionRow& row) {
  std::array<char, 64> buffer;
  TextWriter form(buffer);
  row.print_form(form);
  return std::string(form.view());
}

std::string value_of(const OptionRow& row, const Options& options) {
  std::array<char, 1100> buffer;
  TextWriter value(buffer);
  row.print(options, value);
  return std::string(value.view());
}

void print_text() {
  const Options options = read_options(environ).options;
  for (const OptionRow& row : option_rows()) {
    const bool set = getenv(row.name) != nullptr;
    fmt::print("{:<26} {} ({})\n", row.name, value_of(row, options), set ? "environment" : "default");
    fmt::print("    {}. {}\n    Values: {}\n", row.help, row.details, form_of(row));
  }
  fmt::print("\nPolicies:\n");
  for (const policy::PolicyRow& row : policy::policies()) fmt::print("  {:<12} {}\n", row.name, row.help);
}

void print_markdown_rows(Visibility visibility) {
  fmt::print("| name | values | default | |\n| --- | --- | --- | --- |\n");
  for (const OptionRow& row : option_rows()) {
    if (row.visibility != visibility) continue;
    const std::string default_text = row.default_text[0] == '\0' ? "" : fmt::format("`{}`", row.default_text);
    fmt::print("| `{}` | {} | {} | {}. {} |\n", row.name, form_of(row), default_text, row.help, row.details);
  }
}

void print_markdown() {
  fmt::print(
      "# Options\n\nThis page is printed by `tencache options --markdown`; a test compares the two.\n\n"
      "An option is an environment variable, or the flag of `tencache run` that is named like it: "
      "`TENCACHE_HBM=8GiB` is\n`tencache run --hbm 8GiB`. Sizes are written `8GiB` or `512M`, shares `75%`, "
      "times `4ms`; a bare number is refused. A wrong\nvalue keeps the default and says so in one line; an "
      "unknown name is ignored, with the nearest one named.\n\n");
  print_markdown_rows(Visibility::kPublished);
  fmt::print("\n## For tuning and tests\n\n");
  print_markdown_rows(Visibility::kAdvanced);
  fmt::print("\n## Policies\n\n| name | |\n| --- | --- |\n");
  for (const policy::PolicyRow& row : policy::policies()) fmt::print("| `{}` | {} |\n", row.name, row.help);
}

}  // namespace

int options(Arguments arguments) {
  if (arguments.empty()) {
    print_text();
    return 0;
  }
  if (arguments.size() == 1 && std::strcmp(arguments.front(), "--markdown") == 0) {
    print_markdown();
    return 0;
  }
  fmt::print(stderr, "tencache: options takes --markdown or nothing\n");
  return kWrongUse;
}

}  // namespace tencache::command
