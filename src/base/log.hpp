// What tencache says: single lines on standard error, `tencache: cause, what was done, what to do`, in
// lowercase. Called by every part that decides about an error, where it is decided. Thread rule: from any
// thread, also before main and in a constructor; one write(2) a line, no lock, no allocation, errno is kept.
// Never on the launch path. Failure rule: never fails; a line that cannot be written is lost. Each message
// (known by its format string) is written at most 16 times, so that a bad loop does not flood a training log.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace tencache {

enum class LogLevel : std::uint8_t { kOff, kError, kWarn, kInfo, kDebug };

namespace log {

inline constexpr unsigned kMostRepeats = 16;
inline constexpr std::size_t kLongestLine = 1024;  // longer ones are cut

void set_level(LogLevel level);
[[nodiscard]] LogLevel level();
// Another file descriptor than standard error, for tests. It also forgets what has been repeated.
void set_output(int file_descriptor);

[[nodiscard]] bool enabled(LogLevel level);
void write(LogLevel level, fmt::string_view format, fmt::format_args arguments);

template <class... Arguments>
void error(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (enabled(LogLevel::kError)) write(LogLevel::kError, format, fmt::make_format_args(arguments...));
}
template <class... Arguments>
void warn(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (enabled(LogLevel::kWarn)) write(LogLevel::kWarn, format, fmt::make_format_args(arguments...));
}
template <class... Arguments>
void info(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (enabled(LogLevel::kInfo)) write(LogLevel::kInfo, format, fmt::make_format_args(arguments...));
}
template <class... Arguments>
void debug(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (enabled(LogLevel::kDebug)) write(LogLevel::kDebug, format, fmt::make_format_args(arguments...));
}

}  // namespace log
}  // namespace tencache
