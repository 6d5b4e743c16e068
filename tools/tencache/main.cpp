#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "tools/tencache/command.hpp"

namespace tencache::command {
namespace {

constexpr Command kCommands[] = {
    {"run", "run [options] [--] program [arguments]", "run a program with more memory than its GPU has", run},
    {"doctor", "doctor [--json|--doors]",
     "check what this machine can do, and say how to mend what it cannot", doctor},
    {"options", "options [--markdown]", "every option, its value now and its help", options},
    {"simulate", "simulate TRACE --hbm BYTES --h2d RATE --d2h RATE",
     "run a recorded step under every policy, and the bound beside them", simulate},
    {"version", "version", "this version", version},
    {"help", "help", "this text", help},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

int help(Arguments) {
  fmt::print(
      "tencache lets a training program use more memory than its GPU has, without a change to it.\n\n");
  for (const Command& command : kCommands)
    fmt::print("  tencache {:<39} {}\n", command.synopsis, command.help);
  fmt::print("\nStart with: tencache run -- python train.py\n");
  return 0;
}

int version(Arguments) {
  fmt::print("tencache {}, built against CUDA {}\n", TENCACHE_VERSION, TENCACHE_CUDA_VERSION);
  return 0;
}

}  // namespace tencache::command

int main(int count, char** arguments) {
  using namespace tencache::command;
  const Arguments all(arguments, static_cast<std::size_t>(count));
  if (all.size() < 2) {
    help({});
    return kWrongUse;
  }
  std::string_view name = all[1];
  if (name == "--version" || name == "--help") name.remove_prefix(2);
  const auto command =
      std::find_if(commands().begin(), commands().end(), [name](const Command& c) { return name == c.name; });
  if (command == commands().end()) {
    fmt::print(stderr, "tencache: no command is named {}; `tencache help` lists them\n", name);
    return kWrongUse;
  }
  return command->run(all.subspan(2));
}
