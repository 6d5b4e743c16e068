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
