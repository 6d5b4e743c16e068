// What doctor asks: a table of checks, each of which gives one finding. Called by `tencache doctor`. Thread
// rule: one thread. Failure rule: a check that cannot find out says so as a finding.
#pragma once

#include <span>
#include <string>

#include "tools/tencache/doctor/driver_probe.hpp"

namespace tencache::doctor {

enum class Level : std::uint8_t { kOk, kWarn, kFail };

struct Finding {
  Level level;
  std::string detail;  // what is so
  std::string fix;     // what to do; empty when all is well
};

struct Check {
  const char* name;
  Finding (*run)(const DriverProbe& driver);
};

[[nodiscard]] std::span<const Check> driver_checks();  // ask the driver and the device
[[nodiscard]] std::span<const Check> system_checks();  // ask the system around them

}  // namespace tencache::doctor
