// Every SOFTGPU_* variable, in one table: member, kind of value, variable, default, help. Read by all of
// softgpu through settings(). Thread rule: read once, on first use, then constant. Failure rule: a value that
// cannot be read keeps the default and one line on stderr says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace softgpu {

enum class SettingKind : std::uint8_t {
  kCount,    // 12, 0xff
  kBytes,    // 256MiB
  kPages,    // bytes: 2MiB, a multiple of 64KiB
  kRate,     // 2GB/s, 10G/s, or `instant`
  kTime,     // 3us
  kPercent,  // 80%
  kSwitch,   // 0 or 1
  kText,
};

#define SOFTGPU_SETTINGS(X)                                                                                  \
  X(devices, kCount, "SOFTGPU_DEVICES", "1", "number of devices")                                            \
  X(hbm, kBytes, "SOFTGPU_HBM", "1GiB", "device memory of each device")                                      \
  X(context_bytes, kBytes, "SOFTGPU_CONTEXT", "4MiB", "device memory that each context takes for itself")    \
  X(granularity, kPages, "SOFTGPU_GRANULARITY", "2MiB", "granularity of cuMemCreate, a multiple of 64KiB")   \
  X(address_space, kBytes, "SOFTGPU_VA", "1TiB",                                                             \
    "device virtual addresses; fewer where the host has no room")                                            \
  X(host_locations, kText, "SOFTGPU_HOST_VMM", "host,host_numa",                                             \
    "host location types that cuMemCreate grants (empty: none)")                                             \
  X(host_vmm, kBytes, "SOFTGPU_HOST_VMM_BYTES", "64GiB", "host memory that cuMemCreate grants")              \
  X(poison, kCount, "SOFTGPU_POISON", "0xff", "byte that fresh and freed device memory is filled with")      \
  X(h2d, kRate, "SOFTGPU_H2D", "8GB/s", "link, host to device")                                              \
  X(d2h, kRate, "SOFTGPU_D2H", "8GB/s", "link, device to host")                                              \
  X(duplex, kPercent, "SOFTGPU_DUPLEX", "80%",                                                               \
    "share of its rate a direction keeps while the other is busy")                                           \
  X(d2d, kRate, "SOFTGPU_D2D", "100GB/s", "copies and memsets inside the device")                            \
  X(lane_rate, kRate, "SOFTGPU_LANE_RATE", "20G/s", "lane instructions of one kernel")                       \
  X(kernel_time, kTime, "SOFTGPU_KERNEL_TIME", "1us", "shortest time a kernel takes")                        \
  X(copy_time, kTime, "SOFTGPU_COPY_TIME", "1us", "time a copy takes before its first byte")                 \
  X(queue_capacity, kCount, "SOFTGPU_QUEUE", "1024", "operations a stream holds before the caller blocks")   \
  X(hardware_queues, kCount, "SOFTGPU_HARDWARE_QUEUES", "8", "hardware queues the streams are aliased onto") \
  X(resident_kernels, kCount, "SOFTGPU_RESIDENT", "128", "kernels that run at once")                         \
  X(threads, kCount, "SOFTGPU_THREADS", "1", "host threads for one kernel")                                  \
  X(free_waits, kSwitch, "SOFTGPU_FREE_WAITS", "1", "cuMemFree waits for the device")                        \
  X(call_costs, kText, "SOFTGPU_CALL_COSTS", "none",                                                         \
    "`real`: host calls take the time they take on a driver")                                                \
  X(fail, kText, "SOFTGPU_FAIL", "",                                                                         \
    "cuMemCreate:3[:2],...: the third such call fails (with that CUresult)")                                 \
  X(chaos, kText, "SOFTGPU_CHAOS", "",                                                                       \
    "seed of the adversary that delays operations as far as order allows")                                   \
  X(chaos_delay, kTime, "SOFTGPU_CHAOS_DELAY", "2ms", "longest delay the adversary chooses")                 \
  X(stats, kSwitch, "SOFTGPU_STATS", "0", "print counters at exit")

namespace detail {
template <SettingKind kind>
struct SettingValue {
  using Type = std::uint64_t;
};
template <>
struct SettingValue<SettingKind::kText> {
  using Type = std::string;
};
}  // namespace detail

struct Settings {
#define SOFTGPU_SETTING_MEMBER(member, kind, variable, standard, help) \
  detail::SettingValue<SettingKind::kind>::Type member{};
  SOFTGPU_SETTINGS(SOFTGPU_SETTING_MEMBER)
#undef SOFTGPU_SETTING_MEMBER
};

// The value in bytes, operations or bytes a second (0: instant), nanoseconds, percent; false if it is none.
bool parse_setting(SettingKind kind, std::string_view text, std::uint64_t* value);

// `lookup` answers for an environment variable, null where it is not set.
Settings read_settings(const char* (*lookup)(const char*));
const Settings& settings();

// Whether a comma-separated list has the word.
bool is_listed(std::string_view list, std::string_view word);

// The SOFTGPU_* names among `NAME=value` texts, null-terminated, that the table does not have.
std::vector<std::string> unknown_settings(char* const* environment);

// The table as the README shows it.
std::string settings_table();

}  // namespace softgpu
