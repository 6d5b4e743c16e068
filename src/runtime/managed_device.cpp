#include "src/runtime/managed_device.hpp"

#include <algorithm>
#include <bit>

#include "policy/registry.hpp"
#include "src/base/log.hpp"
#include "src/runtime/host_memory.hpp"

namespace tencache::runtime {

namespace {

constexpr Bytes kLeastReserve = 600_MiB;
constexpr std::uint64_t kReservePercent = 6;
constexpr std::uint64_t kLeastExtents = 32;  // HBM holds at least so many large blocks

vmm::Settings::Census census_of(Census census) {
  switch (census) {
    case Census::kAlways:
      return vmm::Settings::Census::kAlways;
    case Census::kOff:
      return vmm::Settings::Census::kOff;
    case Census::kLearn:
      break;
  }
  return vmm::Settings::Census::kLearn;
}

// On a device too small for the least reserve a share has to do.
Bytes reserve_of(const Options& options, Bytes total) {
  const Bytes share = total / 100 * kReservePercent;
  const Bytes automatic = share * 4 < kLeastReserve ? share : std::max(share, kLeastReserve);
  return options.hbm_reserve.of(total, automatic);
}

Bytes round_down(Bytes size, Bytes unit) { return unit * (size / unit); }
Bytes power_of_two_below(Bytes size) {
  return Bytes(std::bit_floor(std::max<std::uint64_t>(size.count(), 1)));
}
Bytes power_of_two_above(Bytes size) { return Bytes(std::bit_ceil(size.count())); }

Result<Bytes> granularity_of(const Driver& driver, CUdevice device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {device}};
  std::size_t granularity = 0;
  const CUresult result =
      driver.cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
  if (result != CUDA_SUCCESS)
    return Status(StatusCode::kNotSupported, "no virtual memory management", result);
  return power_of_two_above(Bytes(granularity));
}

bool has_attribute(const Driver& driver, CUdevice device, CUdevice_attribute attribute) {
  int value = 0;
  return driver.cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS && value != 0;
}

// A missed address is fatal in detached mode, and under MPS for every client.
bool is_detached(const DeviceParts& parts, CUdevice device) {
  if (!parts.options->detached) return false;
  if (!has_attribute(*parts.driver, device, CU_DEVICE_ATTRIBUTE_MPS_ENABLED)) return true;
  log::warn("TENCACHE_DETACHED is refused under MPS: a fault would end every client; mapped mode is used");
  return false;
}

Result<vmm::Settings> settings_of(const DeviceParts& parts, CUdevice device, Bytes* total) {
  const Options& options = *parts.options;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  const CUresult result = parts.driver->cuMemGetInfo_v2(&free_bytes, &total_bytes);
  if (result != CUDA_SUCCESS) return Status(StatusCode::kDriverFailed, "memory cannot be asked for", result);
  const Result<Bytes> granularity = granularity_of(*parts.driver, device);
  if (!granularity.ok()) return granularity.status();
  *total = Bytes(total_bytes);
  const Bytes reserve = reserve_of(options, *total);
  const Bytes usable = Bytes(free_bytes) > reserve ? Bytes(free_bytes) - reserve : Bytes();
  vmm::Settings settings;
  settings.hbm_budget = std::min(options.hbm.of(*total, usable), *total);
  settings.hbm_reserve = reserve;
  settings.small_block =
      std::max(power_of_two_above(options.small_block_size.of(*total, *granularity)), *granularity);
  const Bytes largest = power_of_two_below(settings.hbm_budget / kLeastExtents);
  settings.large_block =
      std::max(std::min(power_of_two_above(options.block_size), largest), settings.small_block);
  settings.hbm_budget = round_down(settings.hbm_budget, settings.small_block);
  const Bytes host = host_memory();
  settings.host_budget = round_down(options.host.of(host, host / 2), settings.small_block);
  settings.detached = is_detached(parts, device);
  settings.kernels_run_from_host =
      !has_attribute(*parts.driver, device, CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT);
  settings.run_ahead = options.run_ahead;
  settings.census = census_of(options.census);
  settings.fingerprints = options.fingerprints;
  return settings;
}

// The aliases of every block there can be, with room for two sizes to change places.
Result<vmm::ReservedRange> reserve_aliases(const Driver& driver, const vmm::Settings& settings) {
  const Bytes all = settings.hbm_budget + settings.host_budget;
  const Bytes size = power_of_two_above(all) * 2;
  return vmm::reserve_range(driver, size, power_of_two_above(settings.hbm_budget));
}

Result<CUmemLocation> host_location(const Driver& driver, CUdevice device, const vmm::Settings& settings) {
  if (settings.detached) return CUmemLocation{};
  return vmm::probe_host_location(driver, device, settings.small_block);
}

const policy::PolicyRow& policy_of(const Options& options) {
  const policy::PolicyRow* row = policy::find_policy(options.policy.view());
  if (row != nullptr) return *row;
  const PathText& kept = default_options().policy;
  log::warn("TENCACHE_POLICY={} is no policy's name; {} is used instead; `tencache options` lists them",
            options.policy.view(), kept.view());
  return *policy::find_policy(kept.view());
}

}  // namespace

Result<std::unique_ptr<ManagedDevice>> open_device(const DeviceParts& parts, CUdevice device,
                                                   CUcontext context) {
  auto managed = std::make_unique<ManagedDevice>();
  managed->device = device;
  managed->context = context;
  const Result<vmm::Settings> settings = settings_of(parts, device, &managed->total);
  if (!settings.ok()) return settings.status();
  managed->settings = *settings;
  const Result<CUmemLocation> host = host_location(*parts.driver, device, *settings);
  if (!host.ok()) return host.status();
  const Result<vmm::ReservedRange> aliases = reserve_aliases(*parts.driver, *settings);
  if (!aliases.ok()) return aliases.status();
  managed->advisor = std::make_unique<PolicyAdvisor>(policy_of(*parts.options).make());
  const vmm::DeviceMemory::Parts memory_parts{parts.driver,           parts.clock, parts.statistics,
                                              managed->advisor.get(), device,      context};
  const Bytes skipped = round_up(Bytes(parts.arena.base), settings->small_block) - Bytes(parts.arena.base);
  const vmm::AddressWindows windows{parts.arena.base + skipped.count(),
                                    round_down(parts.arena.size - skipped, settings->small_block),
                                    aliases->base, aliases->size};
  auto memory = vmm::DeviceMemory::open(memory_parts, *settings, windows, *host);
  if (!memory.ok()) return memory.status();
  managed->memory = std::move(*memory);
  managed->memory->start_thread();
  log::info("device {}: HBM {} MiB, host {} MiB, blocks of {} and {} KiB, {}{}", device,
            settings->hbm_budget / 1_MiB, settings->host_budget / 1_MiB, settings->large_block / 1_KiB,
            settings->small_block / 1_KiB, settings->detached ? "detached" : "mapped",
            settings->kernels_run_from_host ? "" : ", kernels have a time limit and never run from the host");
  return managed;
}

}  // namespace tencache::runtime
