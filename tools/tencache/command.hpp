// The commands of `tencache`, one row each. Called by main and by `help`. Thread rule: one thread. Failure
// rule: a command returns the exit status and has said on standard error why it is not 0.
#pragma once

#include <span>
#include <string_view>

namespace tencache::command {

using Arguments = std::span<char* const>;  // what follows the command's name

struct Command {
  const char* name;
  const char* synopsis;
  const char* help;
  int (*run)(Arguments arguments);
};

[[nodiscard]] std::span<const Command> commands();

int run(Arguments arguments);
int doctor(Arguments arguments);
int options(Arguments arguments);
int simulate(Arguments arguments);
int version(Arguments arguments);
int help(Arguments arguments);

inline constexpr int kWrongUse = 2;

}  // namespace tencache::command
