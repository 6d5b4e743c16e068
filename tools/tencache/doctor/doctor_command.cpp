// `tencache doctor`: every check as OK, WARN or FAIL with what to do; exit status 1 when one failed.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "tools/tencache/command.hpp"
#include "tools/tencache/doctor/check.hpp"
#include "tools/tencache/doctor/doors.hpp"

namespace tencache::command {
namespace {

struct Answer {
  const char* name;
  doctor::Finding finding;
};

const char* word_of(doctor::Level level) {
  constexpr const char* kWords[] = {"OK", "WARN", "FAIL"};
  return kWords[static_cast<std::size_t>(level)];
}

std::vector<Answer> ask_all() {
  const doctor::DriverProbe driver = doctor::probe_driver();
  std::vector<Answer> answers;
  for (const auto& checks : {doctor::driver_checks(), doctor::system_checks()})
    for (const doctor::Check& check : checks) answers.push_back({check.name, check.run(driver)});
  return answers;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

void print_json(const std::vector<Answer>& answers) {
  fmt::print("{{\"schema\": 1, \"version\": \"{}\", \"checks\": [\n", TENCACHE_VERSION);
  for (std::size_t i = 0; i < answers.size(); ++i)
    fmt::print("  {{\"name\": \"{}\", \"level\": \"{}\", \"detail\": {}, \"fix\": {}}}{}\n", answers[i].name,
               word_of(answers[i].finding.level), quoted(answers[i].finding.detail),
               quoted(answers[i].finding.fix), i + 1 < answers.size() ? "," : "");
  fmt::print("]}}\n");
}

void print_text(const std::vector<Answer>& answers) {
  for (const Answer& answer : answers) {
    fmt::print("{:<4}  {:<17} {}\n", word_of(answer.finding.level), answer.name, answer.finding.detail);
    if (!answer.finding.fix.empty()) fmt::print("      {:<17} -> {}\n", "", answer.finding.fix);
  }
}

}  // namespace

int doctor(Arguments arguments) {
  const auto is = [&](const char* word) {
    return arguments.size() == 1 && std::strcmp(arguments.front(), word) == 0;
  };
  if (is("--doors")) return tencache::doctor::print_doors();
  const bool json = is("--json");
  if (!arguments.empty() && !json) {
    fmt::print(stderr, "tencache: doctor takes --json, --doors or nothing\n");
    return kWrongUse;
  }
  const std::vector<Answer> answers = ask_all();
  json ? print_json(answers) : print_text(answers);
  const bool failed = std::any_of(answers.begin(), answers.end(), [](const Answer& answer) {
    return answer.finding.level == doctor::Level::kFail;
  });
  return failed ? 1 : 0;
}

}  // namespace tencache::command
