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

class Counter {
 public:
  void add(std::uint64_t n = 1) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
  void add(Bytes n) noexcept { add(n.count()); }
  void add(Nanoseconds n) noexcept { add(n.count()); }
  void subtract(Bytes n) noexcept { value_.fetch_sub(n.count(), std::memory_order_relaxed); }
  // Keeps the largest value ever given.
  void raise_to(Bytes n) noexcept {
    std::uint64_t seen = value();
    while (seen < n.count() && !value_.compare_exchange_weak(seen, n.count(), std::memory_order_relaxed)) {
    }
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }
  [[nodiscard]] Bytes bytes() const noexcept { return Bytes(value()); }
  [[nodiscard]] Nanoseconds time() const noexcept { return Nanoseconds(value()); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

struct Statistics {
#define TENCACHE_COUNTER(member, unit, help) Counter member;
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
