#include "tools/gpu_check/child.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gpu_check {
namespace {

[[noreturn]] void answer_and_exit(const Question& question, Scale scale, int pipe_end) {
  Gpu gpu(question.id, AnswerWriter(pipe_end), scale);
  question.ask(gpu, question.argument);
  _exit(0);  // with no driver call on the way out
}

// All that comes until the other end closes; false when the time is over before.
bool read_until_closed(int file_descriptor, int seconds, std::string* content) {
  const std::uint64_t end = now_ns() + static_cast<std::uint64_t>(seconds) * 1000000000u;
  for (;;) {
    const std::uint64_t now = now_ns();
    if (now >= end) return false;
    pollfd waiting{file_descriptor, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>((end - now) / 1000000) + 1) < 0 && errno != EINTR) return false;
    if (waiting.revents == 0) continue;
    std::array<char, 4096> buffer;
    const ssize_t got = read(file_descriptor, buffer.data(), buffer.size());
    if (got <= 0) return true;
    content->append(buffer.data(), static_cast<std::size_t>(got));
  }
}

std::vector<Answer> parse_all(const std::string& content) {
  std::vector<Answer> answers;
  for (std::size_t at = 0, end = 0; (end = content.find('\n', at)) != std::string::npos; at = end + 1)
    answers.push_back(parse_answer(content.substr(at, end - at)));
  return answers;
}

// Takes leave of the child. One that is stuck in the driver, where no signal reaches it, is left behind. Its
// status; 0 when it was left.
int part_from(pid_t child) {
  constexpr int kTries = 500;
  int status = 0;
  for (int i = 0; i < kTries && waitpid(child, &status, WNOHANG) == 0; ++i) usleep(10000);
  return status;
}

Answer ending(const Question& question, const std::string& text) {
  return {std::string(question.id).append(".stopped"), 0, "", text};
}

}  // namespace

std::vector<Answer> ask_in_child(const Question& question, Scale scale, int seconds) {
  int ends[2];
  if (pipe(ends) != 0) return {ending(question, std::strerror(errno))};
  const pid_t child = fork();
  if (child < 0) return {ending(question, std::strerror(errno))};
  if (child == 0) {
    close(ends[0]);
    answer_and_exit(question, scale, ends[1]);
  }
  close(ends[1]);
  std::string content;
  const bool finished = read_until_closed(ends[0], seconds, &content);
  close(ends[0]);
  if (!finished) kill(child, SIGKILL);
  const int status = part_from(child);
  std::vector<Answer> answers = parse_all(content);
  if (!finished)
    answers.push_back(ending(question, "no answer within " + std::to_string(seconds) + " s"));
  else if (WIFSIGNALED(status))
    answers.push_back(ending(question, strsignal(WTERMSIG(status))));
  return answers;
}

}  // namespace gpu_check
