// Memory that is tied to its place or to every kernel: frozen, or named by a descriptor.
#include <algorithm>
#include <utility>

#include "vmm/device_memory.hpp"

namespace tencache::vmm {

bool DeviceMemory::freeze(CUdeviceptr address, std::uint64_t thread) {
  AccessAsk ask;
  ask.stream = CU_STREAM_LEGACY;
  ask.thread = thread;
  ask.enqueues = false;
  ask.may_use_aliases = true;
  {
    const std::lock_guard<std::mutex> lock(state_.mutex);
    if (heap_.find(address).allocation == nullptr) return true;
    const Group& group = state_.groups[state_.units.group_at(address)];
    if (group.frozen) return true;
    if (state_.frozen + group.size > state_.settings.hbm_budget / 2) return false;  // the rest must move
    ask.ranges[0] = {group.address, group.size};
  }
  const Result<InFlight*> admitted = admission_.admit(ask);
  if (!admitted.ok()) return false;
  const bool all_in_hbm = !(*admitted)->from_host;
  if (all_in_hbm) {
    const std::lock_guard<std::mutex> lock(state_.mutex);
    for (const GroupIndex index : (*admitted)->groups) {
      Group& group = state_.groups[index];
      if (!std::exchange(group.frozen, true)) state_.frozen += group.size;
    }
  }
  leave(*admitted, ask.stream);
  return all_in_hbm;
}

std::uint64_t DeviceMemory::hold(CUdeviceptr address) {
  const std::lock_guard<std::mutex> lock(state_.mutex);
  if (heap_.find(address).allocation == nullptr) return 0;
  state_.described.push_back({++state_.last_hold, state_.units.group_at(address)});
  return state_.last_hold;
}

void DeviceMemory::hold_until_freed(CUdeviceptr address) {
  const std::lock_guard<std::mutex> lock(state_.mutex);
  if (heap_.find(address).allocation == nullptr) return;
  const GroupIndex group = state_.units.group_at(address);
  const auto is_held = [group](const auto& one) { return one.hold == 0 && one.group == group; };
  if (std::none_of(state_.described.begin(), state_.described.end(), is_held))
    state_.described.push_back({0, group});
}

void DeviceMemory::let_go(std::uint64_t hold) {
  const std::lock_guard<std::mutex> lock(state_.mutex);
  if (hold != 0) std::erase_if(state_.described, [hold](const auto& one) { return one.hold == hold; });
}

}  // namespace tencache::vmm
