// gpu-check: asks a real GPU what tencache's design believes. See README.md.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tools/gpu_check/child.hpp"

namespace gpu_check {
namespace {

struct Arguments {
  bool quick = false;
  std::string json;
  std::string only;
  int limit = 20;  // seconds a question may take at most
  bool wrong = false;
};

Arguments parse(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--quick")
      arguments.quick = true;
    else if (word == "--json" && i + 1 < count)
      arguments.json = words[++i];
    else if (word == "--only" && i + 1 < count)
      arguments.only = words[++i];
    else if (word == "--limit" && i + 1 < count)
      arguments.limit = std::atoi(words[++i]);
    else
      arguments.wrong = true;
  }
  return arguments;
}

// Asked in a child, so that this process never holds a context. Empty when there is a device.
std::string why_no_device() {
  const pid_t child = fork();
  if (child == 0) {
    DriverApi api;
    int count = 0;
    if (!api.open().empty()) _exit(1);
    _exit(api.cuInit(0) != 0 || api.cuDeviceGetCount(&count) != 0 || count == 0 ? 2 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return WIFEXITED(status) && WEXITSTATUS(status) == 1 ? "no driver (libcuda.so.1) was found"
                                                       : "the driver shows no device";
}

// Every question starts the driver anew. One device is enough to start, and a device that some process holds
// open does not fall asleep between two questions; without these each start may take seconds.
void keep_starts_short() {
  setenv("CUDA_VISIBLE_DEVICES", "0", 0);
  (void)open("/dev/nvidia0", O_RDONLY | O_CLOEXEC);
}

// On a GPU that answers all takes a minute; one that hangs at everything must not take an hour.
constexpr int kSecondsForAll = 170;

std::vector<Answer> ask_all(const Arguments& arguments) {
  std::vector<Answer> all;
  const std::uint64_t end = now_ns() + kSecondsForAll * std::uint64_t{1000000000};
  for (const Question& question : questions()) {
    if (std::strncmp(question.id, arguments.only.c_str(), arguments.only.size()) != 0) continue;
    const std::uint64_t now = now_ns();
    const int left = now < end ? static_cast<int>((end - now) / 1000000000) : 0;
    const int seconds = std::min({question.seconds, arguments.limit, left});
    const std::vector<Answer> answers = ask_in_child(question, Scale{arguments.quick}, seconds);
    print_table(answers, stdout);
    std::fflush(stdout);
    all.insert(all.end(), answers.begin(), answers.end());
  }
  return all;
}

}  // namespace
}  // namespace gpu_check

int main(int count, char** words) {
  using namespace gpu_check;
  const Arguments arguments = parse(count, words);
  if (arguments.wrong) {
    std::fprintf(stderr, "usage: gpu-check [--quick] [--only PREFIX] [--limit SECONDS] [--json FILE]\n");
    return 2;
  }
  if (const std::string reason = why_no_device(); !reason.empty()) {
    std::printf("gpu-check: no GPU here: %s\n", reason.c_str());
    return 0;
  }
  keep_starts_short();
  const std::vector<Answer> answers = ask_all(arguments);
  if (!arguments.json.empty() && !write_json(answers, arguments.json)) {
    std::fprintf(stderr, "gpu-check: cannot write %s\n", arguments.json.c_str());
    return 1;
  }
  return 0;
}
