// usage: exec COUNT PROGRAM [LIBRARY] : the median time from starting PROGRAM to its end, with LIBRARY
// preloaded.
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>

#include "tools/bench_cases/cases.hpp"

namespace {

double run_once(const char* program, char** environment) {
  return gpu_check::timed([&] {
    pid_t child = 0;
    char* const arguments[] = {const_cast<char*>(program), nullptr};
    if (posix_spawn(&child, program, nullptr, nullptr, arguments, environment) != 0) std::exit(1);
    waitpid(child, nullptr, 0);
  });
}

}  // namespace

int main(int count, char** words) {
  std::string preload = std::string("LD_PRELOAD=").append(count > 3 ? words[3] : "");
  char* environment[] = {preload.data(), nullptr};
  std::vector<double> times;
  for (int i = 0; i < std::atoi(words[1]); ++i) times.push_back(run_once(words[2], environment));
  gpu_check::AnswerWriter(STDOUT_FILENO).number("exec.median", gpu_check::median(times) / 1000, "us");
}
