#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "src/base/value_text.hpp"
#include "tools/tencache/doctor/check.hpp"
#include "tools/tencache/preload.hpp"

namespace tencache::doctor {
namespace {

namespace fs = std::filesystem;

std::string rounded(Bytes bytes) {
  std::array<char, 32> buffer;
  TextWriter out(buffer);
  print_rounded(bytes, out);
  return std::string(out.view());
}

Bytes physical_memory() {
  return Bytes(static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
               static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

Finding library(const DriverProbe&) {
  const std::string path = command::find_library();
  if (!path.empty()) return {Level::kOk, path, ""};
  return {Level::kFail, "libtencache.so is not beside this program", "install both together"};
}

// ldconfig makes a link libcuda.so.1 -> libtencache.so in any folder of the loader that holds our file; every
// program of the system would then get tencache for its driver.
Finding ldconfig_trap(const DriverProbe& driver) {
  const std::string ours = command::find_library();
  const fs::path link = fs::path(ours).parent_path() / "libcuda.so.1";
  std::error_code failed;
  if (!ours.empty() && driver.path == ours)
    return {Level::kFail, "libcuda.so.1 is libtencache.so for every program",
            fmt::format("remove the link that leads to {} and run ldconfig", ours)};
  if (!ours.empty() && fs::is_symlink(link, failed))
    return {Level::kFail, fmt::format("{} was made by ldconfig", link.string()),
            "remove it and take that folder from /etc/ld.so.conf.d"};
  return {Level::kOk, "no link makes libtencache.so the system's driver", ""};
}

Finding locked_memory(const DriverProbe&) {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  const bool unlimited = limit.rlim_cur == RLIM_INFINITY;
  const std::string detail = unlimited ? "no limit" : rounded(Bytes(limit.rlim_cur));
  if (unlimited || Bytes(limit.rlim_cur) >= 8_MiB) return {Level::kOk, detail, ""};
  return {Level::kWarn, detail, "raise it with `ulimit -l unlimited`"};
}

// The number in a cgroup's file; none when there is no limit.
std::optional<Bytes> limit_in(const fs::path& file) {
  std::ifstream stream(file);
  std::uint64_t bytes = 0;
  if (!(stream >> bytes) || Bytes(bytes) >= physical_memory()) return std::nullopt;
  return Bytes(bytes);
}

// The tightest limit from this process's group up to the root.
std::optional<Bytes> cgroup_limit() {
  std::ifstream groups("/proc/self/cgroup");
  std::optional<Bytes> least;
  for (std::string line; std::getline(groups, line);) {
    const std::size_t colon = line.find(':'), second = line.find(':', colon + 1);
    const std::string controllers = line.substr(colon + 1, second - colon - 1);
    const bool second_version = controllers.empty();
    if (!second_version && controllers != "memory") continue;
    const fs::path root = second_version ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    for (fs::path group = line.substr(second + 1);; group = group.parent_path()) {
      const fs::path file = second_version ? "memory.max" : "memory.limit_in_bytes";
      const std::optional<Bytes> limit = limit_in(root / group.relative_path() / file);
      if (limit && (!least || *limit < *least)) least = limit;
      if (group == group.parent_path()) break;
    }
  }
  return least;
}

Finding host_memory(const DriverProbe&) {
  const std::string all = rounded(physical_memory());
  if (const std::optional<Bytes> limit = cgroup_limit(); limit)
    return {Level::kWarn, fmt::format("{}, of which the cgroup grants {}", all, rounded(*limit)),
            "give the container more memory, or mind it in TENCACHE_HOST"};
  return {Level::kOk, fmt::format("{}, no cgroup limit", all), ""};
}

Finding numa(const DriverProbe& driver) {
  std::ifstream online("/sys/devices/system/node/online");
  std::string nodes;
  online >> nodes;
  if (nodes.empty() || nodes == "0") return {Level::kOk, "one node", ""};
  if (driver.host_node >= 0)
    return {Level::kOk, fmt::format("nodes {}, the device is near {}", nodes, driver.host_node), ""};
  return {Level::kWarn, fmt::format("nodes {}, which is near the device is not known", nodes),
          "bind the program with numactl to the node that `nvidia-smi topo -m` shows"};
}

std::string content_of(const char* path) {
  std::ifstream file(path);
  std::string content, line;
  while (std::getline(file, line)) content.append(line).append(":");
  return content;
}

Finding other_preloads(const DriverProbe&) {
  const char* variable = getenv("LD_PRELOAD");
  std::vector<std::string> entries = command::preload_entries(variable == nullptr ? "" : variable);
  for (std::string& entry : command::preload_entries(content_of("/etc/ld.so.preload")))
    entries.push_back(std::move(entry));
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                               [](const std::string& entry) { return entry.ends_with("/libtencache.so"); }),
                entries.end());
  if (entries.empty()) return {Level::kOk, "none", ""};
  std::string names;
  for (const std::string& entry : entries) names.append(names.empty() ? "" : ", ").append(entry);
  return {Level::kWarn, names,
          "if a program misbehaves under tencache, try without them; another layer over the driver cannot be "
          "combined"};
}

constexpr Check kChecks[] = {
    {"tencache library", library},
    {"ldconfig trap", ldconfig_trap},
    {"locked memory", locked_memory},
    {"host memory", host_memory},
    {"NUMA", numa},
    {"other preloads", other_preloads},
};

}  // namespace

std::span<const Check> system_checks() { return kChecks; }

}  // namespace tencache::doctor
