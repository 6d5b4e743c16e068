// `tencache simulate`: runs a recorded step under every policy on a modelled machine, and the bound beside
// it.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "policy/bound.hpp"
#include "policy/schedule.hpp"
#include "policy/strategies.hpp"
#include "src/base/value_text.hpp"
#include "tools/tencache/command.hpp"

namespace tencache::command {
namespace {

struct Simulation {
  std::string trace;
  std::string schedule;
  std::string policy = "all";
  bool json = false;
  bool every_access_writes = false;
  policy::Machine machine{};
};

using Number = std::optional<double>;

// 40GiB, 55GB/s, 52.8e9: a number, a unit of bytes, perhaps a second.
Number amount(std::string_view text) {
  std::string word(text);
  if (word.size() > 2 && word.ends_with("/s")) word.resize(word.size() - 2);
  char* rest = nullptr;
  const double value = std::strtod(word.c_str(), &rest);
  if (rest == word.c_str() || !(value > 0)) return std::nullopt;
  static constexpr std::string_view kPrefixes = "KMGT";
  const std::string unit(rest);
  if (unit.empty() || unit == "B") return value;
  const auto power = kPrefixes.find(static_cast<char>(std::toupper(unit[0])));
  const std::string_view tail = std::string_view(unit).substr(1);
  if (power == std::string_view::npos || (tail != "" && tail != "B" && tail != "iB")) return std::nullopt;
  return value * std::pow(tail == "iB" ? 1024.0 : 1000.0, static_cast<double>(power) + 1);
}

bool set_bytes(Bytes& bytes, const char* text) {
  const Number value = amount(text);
  if (value) bytes = Bytes(static_cast<std::uint64_t>(std::llround(*value)));
  return value.has_value();
}

bool set_rate(double& rate, const char* text) {
  const Number value = amount(text);
  if (value) rate = *value;
  return value.has_value();
}

bool set_time(Nanoseconds& time, const char* text) {
  const auto value = parse<Nanoseconds>(text);
  if (value.ok()) time = value.value();
  return value.ok();
}

bool set_text(std::string& target, const char* text) {
  target = text;
  return true;
}

bool set_writes(Simulation& simulation, const char* text) {
  simulation.machine.writes_known = std::strcmp(text, "unknown") != 0;
  simulation.every_access_writes = std::strcmp(text, "every") == 0;
  return simulation.every_access_writes || !simulation.machine.writes_known ||
         std::strcmp(text, "known") == 0;
}

// As it is for who can neither see writes nor take fingerprints. Not for the bound: somebody might.
policy::Trace with_every_access_writing(policy::Trace trace) {
  for (policy::TraceKernel& kernel : trace.kernels) {
    kernel.writes.insert(kernel.writes.end(), kernel.reads.begin(), kernel.reads.end());
    kernel.reads.clear();
  }
  return trace;
}

bool set_costs(policy::Machine& machine, const char* text) {
  if (std::strcmp(text, "zero") == 0) return true;
  if (std::strcmp(text, "full") != 0) return false;
  machine.block = 32_MiB;
  machine.map_per_block = 60_us;
  machine.run_ahead = 4_ms;
  machine.writes_known = false;
  machine.fingerprint_rate = 1.2e12;
  return true;
}

struct Flag {
  const char* name;
  const char* help;
  bool (*set)(Simulation& simulation, const char* text);
};

constexpr Flag kFlags[] = {
    {"--hbm", "bytes of HBM", [](Simulation& s, const char* t) { return set_bytes(s.machine.hbm, t); }},
    {"--h2d", "rate of the link into HBM, alone",
     [](Simulation& s, const char* t) { return set_rate(s.machine.link.in_alone, t); }},
    {"--d2h", "rate of the link out of HBM, alone",
     [](Simulation& s, const char* t) { return set_rate(s.machine.link.out_alone, t); }},
    {"--h2d-duplex", "the same while both directions are busy (default: as alone)",
     [](Simulation& s, const char* t) { return set_rate(s.machine.link.in_duplex, t); }},
    {"--d2h-duplex", "the same while both directions are busy (default: as alone)",
     [](Simulation& s, const char* t) { return set_rate(s.machine.link.out_duplex, t); }},
    {"--policy", "one policy's name, or all (default)",
     [](Simulation& s, const char* t) { return set_text(s.policy, t); }},
    {"--schedule", "file to write the steady step to",
     [](Simulation& s, const char* t) { return set_text(s.schedule, t); }},
    {"--costs",
     "zero (default) or full: 32 MiB blocks, 60 us of mapping each, 4 ms of run-ahead, writes unknown",
     [](Simulation& s, const char* t) { return set_costs(s.machine, t); }},
    {"--block", "bytes moved at a time (default: 2MiB)",
     [](Simulation& s, const char* t) { return set_bytes(s.machine.block, t); }},
    {"--map", "time of the mapping thread for a block",
     [](Simulation& s, const char* t) { return set_time(s.machine.map_per_block, t); }},
    {"--run-ahead", "how far kernels are enqueued",
     [](Simulation& s, const char* t) { return set_time(s.machine.run_ahead, t); }},
    {"--writes",
     "known (default); unknown; or every: whatever is touched must be copied out before it leaves",
     [](Simulation& s, const char* t) { return set_writes(s, t); }},
    {"--fingerprint", "rate of fingerprints, where writes are unknown",
     [](Simulation& s, const char* t) { return set_rate(s.machine.fingerprint_rate, t); }},
};

int wrong(const std::string& what) {
  fmt::print(stderr, "tencache: simulate: {}\n", what);
  return kWrongUse;
}

int usage() {
  fmt::print(
      "usage: tencache simulate TRACE --hbm BYTES --h2d RATE --d2h RATE [--policy NAME|all] [--json]\n\n");
  for (const Flag& flag : kFlags) fmt::print("  {:<14} {}\n", flag.name, flag.help);
  fmt::print("\nPolicies:\n");
  for (const policy::StrategyRow& row : policy::strategies()) fmt::print("  {:<14} {}\n", row.name, row.help);
  return 0;
}

// Empty when all is well, else what is wrong.
std::string read_arguments(Arguments arguments, Simulation& simulation) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word == "--json") {
      simulation.json = true;
    } else if (!word.starts_with("--")) {
      simulation.trace = word;
    } else {
      const auto flag =
          std::find_if(std::begin(kFlags), std::end(kFlags), [&](const Flag& f) { return f.name == word; });
      if (flag == std::end(kFlags)) return fmt::format("no flag is named {}", word);
      if (i + 1 == arguments.size()) return fmt::format("{} needs a value", word);
      if (!flag->set(simulation, arguments[++i])) return fmt::format("{} cannot be {}", word, arguments[i]);
    }
  }
  policy::Machine& machine = simulation.machine;
  if (machine.link.in_duplex == 0) machine.link.in_duplex = machine.link.in_alone;
  if (machine.link.out_duplex == 0) machine.link.out_duplex = machine.link.out_alone;
  if (simulation.trace.empty()) return "no trace is named";
  if (machine.hbm.count() == 0 || machine.link.in_alone == 0 || machine.link.out_alone == 0) {
    return "--hbm, --h2d and --d2h are needed";
  }
  if (!machine.writes_known && machine.fingerprint_rate == 0) return "unknown writes need --fingerprint";
  if (simulation.policy != "all" && policy::find_strategy(simulation.policy) == nullptr) {
    return fmt::format("no policy is named {}", simulation.policy);
  }
  return "";
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::optional<std::string> read_file(const std::string& path) {
  const File file(std::fopen(path.c_str(), "r"), std::fclose);
  if (file == nullptr) return std::nullopt;
  std::string text;
  char buffer[65536];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, file.get())) > 0;) text.append(buffer, n);
  return text;
}

bool write_file(const std::string& path, const std::string& text) {
  const File file(std::fopen(path.c_str(), "w"), std::fclose);
  return file != nullptr && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
}

struct Report {
  const policy::Step& step;
  const policy::Bound bound;
  bool json;
  bool first = true;

  void begin() const {
    if (json) {
      fmt::print(
          "{{\"schema\": 1, \"ideal\": {:.9f}, \"bound\": {:.9f}, \"minimum_bytes\": {:.0f}, \"policies\": [",
          bound.ideal, bound.seconds, bound.minimum_bytes);
      return;
    }
    fmt::print("{:<8} {:>10} {:>9} {:>9} {:>9} {:>7} {:>8} {:>7}\n", "policy", "step s", "stall s", "in GB",
               "out GB", "in/min", "hits %", "eta");
    fmt::print("{:<8} {:>10.6f} {:>9.4f} {:>9.3f} {:>9} {:>7} {:>8} {:>7}\n", "bound", bound.seconds,
               bound.seconds - bound.ideal, bound.minimum_bytes / 1e9, "", "", "", "");
  }

  void row(const char* name, const policy::Outcome& outcome) {
    const double ratio = bound.minimum_bytes > 0 ? outcome.bytes_in / bound.minimum_bytes : 1;
    const double eta = outcome.feasible ? bound.seconds / outcome.step_seconds : 0;
    const double stall = outcome.step_seconds - bound.ideal;
    if (json) {
      fmt::print(
          "{}\n  {{\"policy\": \"{}\", \"feasible\": {}, \"step\": {:.9f}, \"stall\": {:.9f}, \"bytes_in\": "
          "{:.0f}, "
          "\"bytes_out\": {:.0f}, \"fetch_ratio\": {:.6f}, \"hit_rate\": {:.6f}, \"eta\": {:.6f}}}",
          first ? "" : ",", name, outcome.feasible, outcome.step_seconds, stall, outcome.bytes_in,
          outcome.bytes_out, ratio, outcome.hit_rate, eta);
    } else if (!outcome.feasible) {
      fmt::print("{:<8} does not fit\n", name);
    } else {
      fmt::print("{:<8} {:>10.6f} {:>9.4f} {:>9.3f} {:>9.3f} {:>7.3f} {:>8.3f} {:>7.4f}\n", name,
                 outcome.step_seconds, stall, outcome.bytes_in / 1e9, outcome.bytes_out / 1e9, ratio,
                 outcome.hit_rate * 100, eta);
    }
    first = false;
  }

  void end() const {
    if (json) fmt::print("\n]}}\n");
  }
};

constexpr const char* kScheduled = "plan";  // whose schedule is written when all policies run

int run_all(const Simulation& simulation, const policy::Trace& trace) {
  const policy::Step recorded(trace);
  const policy::Step step(simulation.every_access_writes ? with_every_access_writing(trace) : trace);
  Report report{recorded, policy::lower_bound(recorded, simulation.machine), simulation.json};
  report.begin();
  bool feasible = true;
  policy::Schedule schedule;
  for (const policy::StrategyRow& row : policy::strategies()) {
    if (simulation.policy != "all" && simulation.policy != row.name) continue;
    const bool written = simulation.policy != "all" || std::strcmp(row.name, kScheduled) == 0;
    policy::Run run;
    if (written && !simulation.schedule.empty()) run.schedule = &schedule;
    const policy::Outcome outcome = row.run(step, simulation.machine, run);
    report.row(row.name, outcome);
    if (written) feasible = outcome.feasible;
  }
  report.end();
  if (!simulation.schedule.empty() && !write_file(simulation.schedule, policy::format_schedule(schedule))) {
    fmt::print(stderr, "tencache: simulate: cannot write {}\n", simulation.schedule);
    return 1;
  }
  return feasible ? 0 : 1;
}

}  // namespace

int simulate(Arguments arguments) {
  if (arguments.empty() || std::strcmp(arguments[0], "--help") == 0) return usage();
  Simulation simulation;
  if (const std::string problem = read_arguments(arguments, simulation); !problem.empty())
    return wrong(problem);
  const auto text = read_file(simulation.trace);
  if (!text) return wrong(fmt::format("cannot read {}", simulation.trace));
  auto trace = policy::parse_trace(*text);
  if (!trace.ok()) {
    return wrong(
        fmt::format("{}:{}: {}", simulation.trace, trace.status().driver_code(), trace.status().what()));
  }
  return run_all(simulation, trace.value());
}

}  // namespace tencache::command
