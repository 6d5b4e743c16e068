#include "tools/gpu_check/answers.hpp"

#include <unistd.h>

#include <cstdlib>

namespace gpu_check {
namespace {

// Fields are parted by tabs, which no field holds.
void write_line(int file_descriptor, const std::string& line) {
  if (write(file_descriptor, line.data(), line.size()) < 0) _exit(1);
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.3g", value);
  return text;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
  }
  out.push_back('"');
  return out;
}

std::string take_field(const std::string& line, std::size_t* at) {
  const std::size_t end = line.find('\t', *at);
  std::string field = line.substr(*at, end == std::string::npos ? end : end - *at);
  *at = end == std::string::npos ? line.size() : end + 1;
  return field;
}

}  // namespace

void AnswerWriter::number(const std::string& name, double value, const std::string& unit) const {
  char digits[64];
  std::snprintf(digits, sizeof digits, "%.9g", value);
  write_line(file_descriptor_, name + '\t' + digits + '\t' + unit + "\t\n");
}

void AnswerWriter::text(const std::string& name, const std::string& text) const {
  write_line(file_descriptor_, name + "\t0\t\t" + text + '\n');
}

Answer parse_answer(const std::string& line) {
  std::size_t at = 0;
  Answer answer;
  answer.name = take_field(line, &at);
  answer.value = std::strtod(take_field(line, &at).c_str(), nullptr);
  answer.unit = take_field(line, &at);
  answer.text = take_field(line, &at);
  return answer;
}

void print_table(const std::vector<Answer>& answers, std::FILE* out) {
  for (const Answer& answer : answers) {
    if (answer.unit.empty())
      std::fprintf(out, "%-44s %s\n", answer.name.c_str(), answer.text.c_str());
    else
      std::fprintf(out, "%-44s %10s %s\n", answer.name.c_str(), number_text(answer.value).c_str(),
                   answer.unit.c_str());
  }
}

bool write_json(const std::vector<Answer>& answers, const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  std::fprintf(file, "{\n  \"schema\": 1");
  for (const Answer& answer : answers) {
    if (answer.unit.empty())
      std::fprintf(file, ",\n  %s: {\"text\": %s}", quoted(answer.name).c_str(), quoted(answer.text).c_str());
    else
      std::fprintf(file, ",\n  %s: {\"value\": %.9g, \"unit\": %s}", quoted(answer.name).c_str(),
                   answer.value, quoted(answer.unit).c_str());
  }
  std::fprintf(file, "\n}\n");
  return std::fclose(file) == 0;
}

}  // namespace gpu_check
