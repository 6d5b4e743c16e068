// The whole software machine: devices, addresses, scheduler. One per process, made on first use and never
// destroyed, because its threads run until the process ends. Thread rule: any thread. Failure rule: aborts
// where the host cannot reserve what the settings ask for.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "tools/softgpu/device/address_space.hpp"
#include "tools/softgpu/device/link.hpp"
#include "tools/softgpu/device/physical_memory.hpp"
#include "tools/softgpu/device/scheduler.hpp"

namespace softgpu {

struct Device {
  explicit Device(int number);
  const int ordinal;
  Hbm hbm;
  Link link;
  void work_begins();
  void work_ends();
  bool works();
  void let_go(std::shared_ptr<PhysicalBlock> block);

 private:
  std::mutex running_mutex_;
  std::uint64_t running_ = 0;
  std::vector<std::shared_ptr<PhysicalBlock>> let_go_;
};

struct Machine {
  Machine();
  const pid_t process;  // that made it
  AddressSpace space;
  Scheduler scheduler;
  std::vector<std::unique_ptr<Device>> devices;
  // Mapping calls hold it for as long as they take on a driver; launches pass through it.
  std::mutex call_lock;

  [[nodiscard]] Device& device(int ordinal) { return *devices[static_cast<std::size_t>(ordinal)]; }
};

Machine& machine();

}  // namespace softgpu
