// What is counted while a program runs: one struct of relaxed counters made from counters.def. Called by the
// runtime, vmm and the doors, which are handed the same Statistics; printed by the summary and as JSON.
// Thread rule: every member from any thread; numbers of different counters need not agree with each other.
// Failure rule: never fails. Counting is one atomic add; it is allowed on the launch path.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "src/base/text.hpp"
#include "src/base/units.hpp"

namespace tencache {

using Counter = std::atomic<std::uint64_t>;

inline void count(Counter& counter, std::uint64_t by = 1) noexcept {
  counter.fetch_add(by, std::memory_order_relaxed);
}
inline void count(Counter& counter, Bytes by) noexcept { count(counter, by.count()); }
inline void count(Counter& counter, Nanoseconds by) noexcept { count(counter, by.count()); }
// Sets a level and the peak that belongs to it. One writer at a time.
inline void set_level(Counter& level, Counter& peak, Bytes value) noexcept {
  level.store(value.count(), std::memory_order_relaxed);
  if (value.count() > peak.load(std::memory_order_relaxed))
    peak.store(value.count(), std::memory_order_relaxed);
}

struct Statistics {
#define TENCACHE_COUNTER(member, unit, help) Counter member{0};
#include "src/base/counters.def"
#undef TENCACHE_COUNTER
};

enum class CounterUnit : std::uint8_t { kCount, kBytes, kTime };

struct CounterRow {
  const char* name;
  CounterUnit unit;
  const char* help;
  Counter Statistics::*member;
};
[[nodiscard]] std::span<const CounterRow> counter_rows();

// One object on one line: {"schema":1,"allocations":12,…}; bytes in bytes, times in nanoseconds.
void print_json(const Statistics& statistics, TextWriter& out);
// One line per counter that is not zero: value, name, help.
void print_table(const Statistics& statistics, TextWriter& out);

}  // namespace tencache
