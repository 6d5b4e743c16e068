// The clock, handed in wherever time matters, so that every part can be tested without waiting.
// Called by the runtime, vmm and the tools. Thread rule: now() from any thread. Failure rule: never fails.
#pragma once

#include <atomic>
#include <ctime>

#include "src/base/units.hpp"

namespace tencache {

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Nanoseconds now() const noexcept = 0;
};

class MonotonicClock final : public Clock {
 public:
  [[nodiscard]] Nanoseconds now() const noexcept override {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return Nanoseconds(static_cast<std::uint64_t>(t.tv_sec) * 1000000000u +
                       static_cast<std::uint64_t>(t.tv_nsec));
  }
};

class ManualClock final : public Clock {
 public:
  [[nodiscard]] Nanoseconds now() const noexcept override { return Nanoseconds(now_.load()); }
  void advance(Nanoseconds by) noexcept { now_.fetch_add(by.count()); }

 private:
  std::atomic<std::uint64_t> now_{0};
};

}  // namespace tencache
