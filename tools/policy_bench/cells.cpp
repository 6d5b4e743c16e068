#include "tools/policy_bench/cells.hpp"

#include <fmt/core.h>

#include <cstdio>

#include "policy/workload.hpp"

namespace tencache::bench {
namespace {

constexpr const char* kRecorded[] = {"vit-1280", "bert-base-512", "bert-base-256"};
constexpr const char* kGpu = "h100";
constexpr double kShares[] = {0.25, 0.40, 0.55, 0.70};
constexpr Bytes kSizes[] = {40_GiB, 24_GiB, 16_GiB, 10_GiB};

struct Link {
  const char* name;
  policy::LinkRates rates;
};

constexpr double kGen4 = 15.754 * 1073741824.0;
constexpr Link kLinks[] = {
    {"gen4", policy::LinkRates::both_ways(kGen4)},
    {"gen5", {55e9, 55e9, 52.8e9, 34.5e9}},
    {"c2c", {359e9, 377e9, 175e9, 172e9}},
};

bool read(const std::string& path, std::string& text) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "r"), std::fclose);
  if (file == nullptr) return false;
  char buffer[65536];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, file.get())) > 0;) text.append(buffer, n);
  return true;
}

NamedStep named(policy::Trace trace, bool recorded) {
  NamedStep step{trace.name, std::move(trace), nullptr, recorded};
  step.step = std::make_unique<policy::Step>(step.trace);
  return step;
}

}  // namespace

policy::LinkRates link_of_recorded() { return kLinks[0].rates; }

std::vector<NamedStep> recorded_steps(const std::string& folder) {
  std::vector<NamedStep> steps;
  for (const char* name : kRecorded) {
    std::string text;
    const std::string path = folder + "/" + name + ".trace";
    if (!read(path, text)) {
      fmt::print(stderr, "policy-bench: cannot read {}\n", path);
      continue;
    }
    auto trace = policy::parse_trace(text);
    if (trace.ok()) {
      steps.push_back(named(std::move(trace.value()), true));
    } else {
      fmt::print(stderr, "policy-bench: {}:{}: {}\n", path, trace.status().driver_code(),
                 trace.status().what());
    }
  }
  return steps;
}

std::vector<NamedStep> generated_steps() {
  std::vector<NamedStep> steps;
  for (const policy::Workload& workload : policy::workloads()) {
    steps.push_back(named(workload.generate(*policy::find_gpu(kGpu)), false));
  }
  return steps;
}

std::vector<Cell> cells(const std::vector<NamedStep>& steps) {
  std::vector<Cell> cells;
  for (const NamedStep& step : steps) {
    const auto peak = static_cast<double>(step.step->peak());
    std::vector<Bytes> sizes;
    for (const double share : kShares) sizes.emplace_back(static_cast<std::uint64_t>(peak * share));
    if (step.recorded) sizes.insert(sizes.end(), std::begin(kSizes), std::end(kSizes));
    for (const Bytes hbm : sizes) {
      if (static_cast<double>(hbm.count()) >= peak) continue;
      for (const Link& link : kLinks) {
        policy::Machine machine;
        machine.hbm = hbm;
        machine.link = link.rates;
        cells.push_back({&step, link.name, static_cast<double>(hbm.count()) / peak, machine});
      }
    }
  }
  return cells;
}

policy::Machine with_costs(const policy::Machine& machine, Costs costs) {
  policy::Machine with = machine;
  if (costs == Costs::kZero) return with;
  with.block = 32_MiB;
  with.map_per_block = 60_us;
  with.run_ahead = 4_ms;
  with.writes_known = false;
  with.fingerprint_rate = 1.2e12;
  return with;
}

}  // namespace tencache::bench
