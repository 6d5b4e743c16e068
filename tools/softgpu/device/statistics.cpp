#include "tools/softgpu/device/statistics.hpp"

namespace softgpu {

Statistics& statistics() {
  static Statistics* const instance = new Statistics;
  return *instance;
}

std::string statistics_table() {
  std::string table;
  const Statistics& all = statistics();
#define SOFTGPU_COUNTER_ROW(member, text) \
  table += "softgpu: " + std::to_string(all.member.load(std::memory_order_relaxed)) + " " + text + "\n";
  SOFTGPU_COUNTERS(SOFTGPU_COUNTER_ROW)
#undef SOFTGPU_COUNTER_ROW
  return table;
}

}  // namespace softgpu
