#include "tools/softgpu/device/machine.hpp"

#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "tools/softgpu/device/clock.hpp"
#include "tools/softgpu/device/statistics.hpp"

namespace softgpu {
namespace {

int device_count() { return static_cast<int>(settings().devices); }

constexpr std::uint64_t kExitPatience = 200'000'000;

// Exit handlers of the program's libraries follow: nothing may run on the device any more, even what would
// never end. A forked child has no device, and locks that nobody will ever leave.
void end_of_process() {
  if (getpid() != machine().process) return;
  machine().scheduler.cancel_all();
  const std::uint64_t deadline = now_ns() + kExitPatience;
  for (const auto& device : machine().devices)
    while (device->works() && now_ns() < deadline) sched_yield();
  if (settings().stats != 0) std::fputs(statistics_table().c_str(), stderr);
}

}  // namespace

Device::Device(int number)
    : ordinal(number),
      hbm(settings().hbm, static_cast<std::uint8_t>(settings().poison)),
      link(settings().h2d, settings().d2h, settings().duplex) {}

void Device::work_begins() {
  const std::lock_guard lock(running_mutex_);
  ++running_;
}

void Device::work_ends() {
  std::vector<std::shared_ptr<PhysicalBlock>> freed;
  const std::lock_guard lock(running_mutex_);
  if (--running_ == 0) freed.swap(let_go_);
}

bool Device::works() {
  const std::lock_guard lock(running_mutex_);
  return running_ > 0;
}

void Device::let_go(std::shared_ptr<PhysicalBlock> block) {
  if (block == nullptr || !block->is_host()) return;
  const std::lock_guard lock(running_mutex_);
  if (running_ > 0) let_go_.push_back(std::move(block));
}

Machine::Machine()
    : process(getpid()),
      space(settings().address_space, device_count()),
      scheduler(settings(), device_count()) {
  for (int i = 0; i < device_count(); ++i) devices.push_back(std::make_unique<Device>(i));
  std::atexit(end_of_process);
}

Machine& machine() {
  static Machine* const instance = new Machine;
  return *instance;
}

}  // namespace softgpu
