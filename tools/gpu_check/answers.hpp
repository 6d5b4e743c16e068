// Answers on their way from the child process that asks a question to the table and the JSON. Thread rule:
// one thread per object. Failure rule: a child that dies leaves the answers it had written.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace gpu_check {

struct Answer {
  std::string name;  // "map_us.2MiB"
  double value = 0;
  std::string unit;  // empty: the answer is `text`
  std::string text;
};

// The child's end: each answer is one line of a pipe, written at once.
class AnswerWriter {
 public:
  explicit AnswerWriter(int file_descriptor) : file_descriptor_(file_descriptor) {}
  void number(const std::string& name, double value, const std::string& unit) const;
  void text(const std::string& name, const std::string& text) const;

 private:
  int file_descriptor_;
};

// The parent's end: the answer in a line.
Answer parse_answer(const std::string& line);

void print_table(const std::vector<Answer>& answers, std::FILE* out);
// False when the file cannot be written.
bool write_json(const std::vector<Answer>& answers, const std::string& path);

}  // namespace gpu_check
