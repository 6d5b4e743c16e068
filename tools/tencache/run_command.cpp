// `tencache run`: sets LD_PRELOAD and the options, then becomes the program, so that process id, signals,
// terminal and exit status are the program's own.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "src/base/options.hpp"
#include "tools/tencache/command.hpp"
#include "tools/tencache/preload.hpp"

namespace tencache::command {
namespace {

// As env, nohup and timeout have them.
constexpr int kOurFailure = 125;
constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;

int refuse(const std::string& cause, std::string_view advice = {}) {
  fmt::print(stderr, "tencache: {}; nothing was started{}{}\n", cause, advice.empty() ? "" : "; ", advice);
  return kOurFailure;
}

// TENCACHE_HBM_RESERVE is --hbm-reserve. TENCACHE itself has no flag: to run with it off is not to run it.
std::string flag_of(const OptionRow& row) {
  constexpr std::string_view kPrefix = "TENCACHE_";
  std::string flag = "--";
  if (std::strlen(row.name) <= kPrefix.size()) return {};
  for (const char c : std::string_view(row.name).substr(kPrefix.size()))
    flag += c == '_' ? '-' : static_cast<char>(c - 'A' + 'a');
  return flag;
}

const OptionRow* row_of_flag(std::string_view flag) {
  for (const OptionRow& row : option_rows())
    if (flag == flag_of(row)) return &row;
  return nullptr;
}

// Options that take `on` are turned on by the bare flag; their other values need `--flag=value`.
bool is_switch(const OptionRow& row) {
  std::array<char, 64> buffer;
  TextWriter form(buffer);
  row.print_form(form);
  return form.view().starts_with("on,");
}

void print_usage() {
  fmt::print("tencache run [options] [--] program [arguments]\n\n");
  for (const OptionRow& row : option_rows())
    if (!flag_of(row).empty()) fmt::print("  {:<20} {}\n", flag_of(row), row.help);
  fmt::print("\nEach is the same as setting its variable; `tencache options` says more.\n");
}

int set_option(const OptionRow& row, const std::string& text) {
  Options checked;
  if (const Status status = row.parse(text, &checked); !status.ok())
    return refuse(fmt::format("{} {} is wrong: {}", flag_of(row), text, status.what()));
  setenv(row.name, text.c_str(), 1);
  return 0;
}

// Takes one option from the front of `rest`.
int take_option(Arguments* rest) {
  const std::string argument = rest->front();
  *rest = rest->subspan(1);
  const std::size_t equals = argument.find('=');
  const OptionRow* row = row_of_flag(argument.substr(0, equals));
  if (row == nullptr)
    return refuse(fmt::format("run has no option {}", argument), "`tencache run --help` lists them");
  if (equals != std::string::npos) return set_option(*row, argument.substr(equals + 1));
  if (is_switch(*row)) return set_option(*row, "on");
  if (rest->empty())
    return refuse(fmt::format("{} wants a value", argument), "`tencache run --help` says which");
  const std::string text = rest->front();
  *rest = rest->subspan(1);
  return set_option(*row, text);
}

// A value in the environment that is wrong is the library's to warn about; here it matters when it is strict.
bool strict_refuses() {
  const char* strict = getenv("TENCACHE_STRICT");
  const Result<bool> on = parse<bool>(strict == nullptr ? "off" : strict);
  return on.ok() && *on && read_options(environ).refused;
}

// What to do about a program that could not be started.
const char* advice(const char* program, int error) {
  const bool is_path = std::strchr(program, '/') != nullptr;
  if (error == ENOENT && !is_path) return "it is in no folder of PATH: give its whole path";
  if (error == ENOENT && access(program, F_OK) == 0)
    return "the file is there, what its first line or its loader names is not: install that";
  if (error == ENOENT) return "check its path";
  if (error == EACCES)
    return "make it executable with chmod +x, or run what reads it: tencache run -- python train.py";
  return "check that it is a program of this machine";
}

int become(Arguments program) {
  const char* const name = program.front();
  execvp(name, const_cast<char* const*>(program.data()));
  const int error = errno;
  refuse(fmt::format("cannot run {}: {}", name, std::strerror(error)), advice(name, error));
  return error == ENOENT ? kNotFound : kCannotRun;
}

int preload_and_become(Arguments program) {
  const std::string library = find_library();
  if (library.empty())
    return refuse("libtencache.so is not where this program looks for it, in ../lib/tencache",
                  "install both together");
  if (library.find_first_of(": ") != std::string::npos)
    return refuse(fmt::format("{} has a blank or colon in its path, which LD_PRELOAD cannot hold", library),
                  "move it");
  const char* existing = getenv("LD_PRELOAD");
  setenv("LD_PRELOAD", with_library(existing == nullptr ? "" : existing, library).c_str(), 1);
  return become(program);
}

}  // namespace

int run(Arguments arguments) {
  Arguments rest = arguments;
  while (!rest.empty() && rest.front()[0] == '-' && std::strcmp(rest.front(), "--") != 0) {
    if (std::strcmp(rest.front(), "--help") == 0) {
      print_usage();
      return 0;
    }
    if (const int status = take_option(&rest); status != 0) return status;
  }
  if (!rest.empty() && std::strcmp(rest.front(), "--") == 0) rest = rest.subspan(1);
  if (rest.empty()) return refuse("run wants a program", "try: tencache run -- python train.py");
  if (strict_refuses()) return kOurFailure;
  return preload_and_become(rest);
}

}  // namespace tencache::command
