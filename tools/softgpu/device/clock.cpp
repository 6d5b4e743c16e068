#include "tools/softgpu/device/clock.hpp"

#include <sched.h>

#include <ctime>

namespace softgpu {
namespace {

constexpr std::uint64_t kSpin = 20'000;  // a sleep shorter than this overshoots by more than it waits

timespec to_timespec(std::uint64_t ns) {
  return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
}

}  // namespace

std::uint64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

void wait_until_ns(std::uint64_t deadline_ns) {
  if (deadline_ns > now_ns() + kSpin) {
    const timespec until = to_timespec(deadline_ns - kSpin / 2);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
    }
  }
  while (now_ns() < deadline_ns) sched_yield();
}

void spend_ns(std::uint64_t duration) {
  const std::uint64_t end = now_ns() + duration;
  while (now_ns() < end) {
  }
}

std::uint64_t duration_ns(std::uint64_t amount, std::uint64_t rate) {
  if (rate == 0) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(amount) * 1e9 / static_cast<double>(rate));
}

}  // namespace softgpu
