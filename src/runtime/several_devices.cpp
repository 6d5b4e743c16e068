// Processes with several managed devices: which one an access belongs to, and what it touches of the others.
#include <algorithm>

#include "src/runtime/runtime_impl.hpp"

namespace tencache::runtime {

// Kernels run on the current context's device and reach its memory alone: another device's addresses among
// theirs are numbers to them. Where one device alone is managed, its addresses say as much without a
// question.
ManagedDevice* RuntimeImpl::device_of_work(std::span<const CUdeviceptr> pointers) noexcept {
  if (pointers.empty()) return current_device(false);
  if (several_managed_.load(std::memory_order_relaxed))
    if (ManagedDevice* device = current_device(false)) return device;
  return device_at(pointers.front());
}

bool RuntimeImpl::names_others(const ManagedDevice& device, std::span<const CUdeviceptr> pointers) noexcept {
  return several_managed_.load(std::memory_order_relaxed) &&
         std::any_of(pointers.begin(), pointers.end(), [&](CUdeviceptr pointer) {
           const ManagedDevice* other = device_at(pointer);
           return other != nullptr && other != &device;
         });
}

// A graph's nodes may be on several devices. The others' engines do not see the stream that it is launched
// on, so what it touches there stays where it is.
bool RuntimeImpl::freeze_others(const ManagedDevice& device, const Access& access) noexcept {
  if (access.kind != AccessKind::kGraph || access.recorded || !names_others(device, access.pointers))
    return true;
  return std::all_of(access.pointers.begin(), access.pointers.end(), [&](CUdeviceptr pointer) {
    ManagedDevice* other = device_at(pointer);
    return other == nullptr || other == &device || other->memory->freeze(pointer, this_thread());
  });
}

}  // namespace tencache::runtime
