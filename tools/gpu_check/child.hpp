// Asks a question in a child process. Called by main. Thread rule: one thread. Failure rule: a child that
// hangs is ended after `seconds`, one that dies is reported with its signal; both are answers.
#pragma once

#include <vector>

#include "tools/gpu_check/questions.hpp"

namespace gpu_check {

[[nodiscard]] std::vector<Answer> ask_in_child(const Question& question, Scale scale, int seconds);

}  // namespace gpu_check
