// ptx-parse [-q] FILES... : parses each file and prints what the tree holds, for looking over large corpora.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "tools/softgpu/ptx/describe.hpp"
#include "tools/softgpu/ptx/parser.hpp"

namespace {

using softgpu::ptx::Function;

void print_function(const Function& function) {
  fmt::print("{} {}: {} parameters, {} registers, {} variables\n", function.is_entry ? "entry" : "func",
             function.name, function.parameters.size(), function.registers.size(), function.variables.size());
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    fmt::print("  {:5} line {:6}  {}\n", i, function.body[i].line, describe(function.body[i], function));
  }
}

bool parse_file(const char* path, bool quiet) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto begin = std::chrono::steady_clock::now();
  const softgpu::ptx::ParseResult result = softgpu::ptx::parse(text);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  if (!result.module) {
    fmt::print("{}:{}: {}\n", path, result.error.line, result.error.what);
    return false;
  }
  std::size_t instructions = 0;
  for (const Function& function : result.module->functions) {
    instructions += function.body.size();
    if (!quiet) print_function(function);
  }
  fmt::print("{}: {} bytes, {} functions, {} instructions, {:.1f} ms\n", path, text.size(),
             result.module->functions.size(), instructions, time.count());
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  bool quiet = false, all_parsed = true;
  for (int i = 1; i < count; ++i) {
    if (std::string_view(arguments[i]) == "-q") {
      quiet = true;
    } else {
      all_parsed = parse_file(arguments[i], quiet) && all_parsed;
    }
  }
  return all_parsed ? 0 : 1;
}
