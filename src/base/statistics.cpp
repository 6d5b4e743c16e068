#include "src/base/statistics.hpp"

#include "src/base/value_text.hpp"

namespace tencache {
namespace {

constexpr CounterRow kRows[] = {
#define TENCACHE_COUNTER(member, unit, help) {#member, CounterUnit::unit, help, &Statistics::member},
#include "src/base/counters.def"
#undef TENCACHE_COUNTER
};

void print_measure(std::uint64_t value, CounterUnit unit, TextWriter& out) {
  switch (unit) {
    case CounterUnit::kCount:
      return out.append("{}", value);
    case CounterUnit::kBytes:
      return print_rounded(Bytes(value), out);
    case CounterUnit::kTime:
      return out.append("{:.3f} ms", static_cast<double>(value) * 1e-6);
  }
}

}  // namespace

std::span<const CounterRow> counter_rows() { return kRows; }

void print_json(const Statistics& statistics, TextWriter& out) {
  out.append("{\"schema\":1");
  for (const CounterRow& row : kRows) out.append(",\"{}\":{}", row.name, (statistics.*row.member).load());
  out.append("}\n");
}

void print_table(const Statistics& statistics, TextWriter& out) {
  for (const CounterRow& row : kRows) {
    const std::uint64_t value = (statistics.*row.member).load();
    if (value == 0) continue;
    std::array<char, 32> buffer;
    TextWriter measure(buffer);
    print_measure(value, row.unit, measure);
    out.append("{:>14}  {:<22} {}\n", measure.view(), row.name, row.help);
  }
}

}  // namespace tencache
