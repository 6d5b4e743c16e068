// What nobody uses goes back to the driver: freed memory that was not asked for again for some seconds, and
// the blocks it had. Never in a steady step, which asks for the same memory again.
#include <algorithm>
#include <utility>

#include "vmm/engine.hpp"

namespace tencache::vmm {

bool Engine::give_back_idle(Lock& lock) {
  const Nanoseconds now = state_.clock.now();
  const bool due = now - looked_for_idle_ >= kLooksForIdleEvery;
  if (!due && !state_.give_idle_back && !giving_back_) return false;
  if (due) {
    looked_for_idle_ = now;
    ++state_.idle_look;
    raise_hbm_budget(lock);
  }
  giving_back_ = release_freed(state_.give_idle_back);
  if (giving_back_) return true;
  const std::uint64_t taken = hbm_.taken() + host_.taken();
  const bool untouched = std::exchange(taken_before_, taken) == taken;
  if (!untouched && !state_.give_idle_back) return false;
  lock.unlock();
  hbm_.give_up_free();
  host_.give_up_free();
  lock.lock();
  state_.give_idle_back = false;
  state_.settled.notify_all();
  return false;
}

// What the driver has free beside what the budget lets us take of it.
Bytes Engine::room_beside_budget() const {
  std::size_t free_bytes = 0;
  std::size_t total = 0;
  if (driver_.cuMemGetInfo_v2(&free_bytes, &total) != CUDA_SUCCESS) return {};
  const Bytes budget = hbm_.budget();
  const Bytes ours = budget > hbm_.created() ? budget - hbm_.created() : Bytes();
  const Bytes kept = ours + state_.settings.hbm_reserve;
  return Bytes(free_bytes) > kept ? Bytes(free_bytes) - kept : Bytes();
}

// A budget that was lowered for the driver's sake rises by what has been free for two looks: whoever asks for
// it again and again would else have us give it back each time.
void Engine::raise_hbm_budget(Lock& lock) {
  const Bytes most = state_.settings.hbm_budget;
  if (hbm_.budget() >= most || state_.lower_hbm_budget_to.count() > 0) return;
  lock.unlock();
  const Bytes room = room_beside_budget();
  lock.lock();
  const Bytes unit = state_.settings.small_block;
  const Bytes lasting = std::min(room, std::exchange(room_before_, room));
  const Bytes rise = unit * (std::min(lasting, most - hbm_.budget()) / unit);
  if (rise == Bytes() || state_.lower_hbm_budget_to.count() > 0) return;
  hbm_.set_budget(hbm_.budget() + rise);
  const Bytes granted = std::min(rise, state_.withheld);
  state_.withheld -= granted;
  heap_.set_capacity(heap_.capacity() + granted);
}

// Whose work is done. `all`: not only what has been free for two looks.
bool Engine::release_freed(bool all) {
  bool released = false;
  for (const GroupIndex index : heap_.freed_groups()) {
    Group& group = state_.groups[index];
    const bool old = group.freed_at_look + 2 <= state_.idle_look;
    if ((!all && !old) || !state_.idle(group)) continue;
    for (const ExtentIndex extent : group.extents) released |= release(extent);
  }
  return released;
}

}  // namespace tencache::vmm
