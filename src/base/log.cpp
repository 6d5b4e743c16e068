#include "src/base/log.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace tencache::log {
namespace {

constexpr std::string_view kPrefix = "tencache: ";
constexpr std::string_view kLastTime = " (said 16 times; not again)";

std::atomic<LogLevel> current_level{LogLevel::kWarn};
std::atomic<int> output{STDERR_FILENO};

// How often each format string was written. Open addressing; a message that finds no slot is not counted.
struct Slot {
  std::atomic<const char*> format{nullptr};
  std::atomic<unsigned> count{0};
};
constexpr std::size_t kSlots = 256;
std::array<Slot, kSlots> slots;

unsigned times_written(const char* format) {
  const std::size_t start = reinterpret_cast<std::uintptr_t>(format) / 8;
  for (std::size_t i = 0; i < kSlots; ++i) {
    Slot& slot = slots[(start + i) % kSlots];
    const char* seen = nullptr;
    if (slot.format.compare_exchange_strong(seen, format) || seen == format) return ++slot.count;
  }
  return 1;
}

void write_all(int file_descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file_descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void set_level(LogLevel level) { current_level.store(level, std::memory_order_relaxed); }
LogLevel level() { return current_level.load(std::memory_order_relaxed); }
bool enabled(LogLevel wanted) { return wanted <= level(); }

void set_output(int file_descriptor) {
  output = file_descriptor;
  for (Slot& slot : slots) slot.count = 0;
}

void write(LogLevel wanted, fmt::string_view format, fmt::format_args arguments) {
  if (!enabled(wanted)) return;
  const unsigned times = times_written(format.data());
  if (times > kMostRepeats) return;
  const int saved_errno = errno;
  std::array<char, kLongestLine> line;
  constexpr std::size_t kRoom = kLongestLine - kPrefix.size() - kLastTime.size() - 1;
  char* end = std::copy(kPrefix.begin(), kPrefix.end(), line.begin());
  end = fmt::vformat_to_n(end, kRoom, format, arguments).out;
  if (times == kMostRepeats) end = std::copy(kLastTime.begin(), kLastTime.end(), end);
  *end++ = '\n';
  write_all(output, {line.data(), static_cast<std::size_t>(end - line.data())});
  errno = saved_errno;
}

}  // namespace tencache::log
