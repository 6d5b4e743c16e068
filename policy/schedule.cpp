#include "policy/schedule.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>

namespace tencache::policy {
namespace {

__attribute__((format(printf, 2, 3))) void append(std::string& text, const char* format, ...) {
  std::array<char, 160> line{};
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line.data(), line.size(), format, arguments);
  va_end(arguments);
  text += line.data();
}

void append_move(std::string& text, const Move& move) {
  const auto first = static_cast<long long>(move.first);
  const auto bytes = static_cast<long long>(move.bytes);
  if (move.kind == Move::Kind::kRun) {
    append(text, "run %u %.12f %.12f\n", move.index, move.start, move.end);
  } else if (move.kind == Move::Kind::kDrop) {
    append(text, "drop %u %lld %lld %.12f\n", move.index, first, bytes, move.start);
  } else {
    append(text, "%s %u %lld %lld %.12f %.12f\n", move.kind == Move::Kind::kFetch ? "fetch" : "write",
           move.index, first, bytes, move.start, move.end);
  }
}

}  // namespace

std::string format_schedule(const Schedule& schedule) {
  std::string text;
  for (const ResidentRange& range : schedule.resident) {
    append(text, "resident %u %lld %lld %s\n", range.tensor, static_cast<long long>(range.first),
           static_cast<long long>(range.bytes), range.clean ? "clean" : "dirty");
  }
  for (const Move& move : schedule.moves) append_move(text, move);
  append(text, "step %.12f\n", schedule.seconds);
  return text;
}

}  // namespace tencache::policy
