#include "examples/common/options.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace examples {
namespace {

[[noreturn]] void usage(const char* program, const std::vector<Option>& options) {
  std::fprintf(stderr, "usage: %s [--option number]...\n", program);
  for (const Option& option : options) {
    std::fprintf(stderr, "  --%-10s %s (%d)\n", option.name, option.help, *option.value);
  }
  std::exit(EXIT_FAILURE);
}

const Option* find(const std::vector<Option>& options, std::string_view argument) {
  if (argument.substr(0, 2) != "--") return nullptr;
  for (const Option& option : options) {
    if (argument.substr(2) == option.name) return &option;
  }
  return nullptr;
}

}  // namespace

void parse_options(int argc, char** argv, const std::vector<Option>& options) {
  for (int i = 1; i < argc; i += 2) {
    const Option* option = find(options, argv[i]);
    char* end = nullptr;
    const long value = i + 1 < argc ? std::strtol(argv[i + 1], &end, 10) : 0;
    if (option == nullptr || end == nullptr || *end != '\0' || value < 1) usage(argv[0], options);
    *option->value = static_cast<int>(value);
  }
}

}  // namespace examples
