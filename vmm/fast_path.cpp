#include "vmm/fast_path.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tencache::vmm {

namespace {

// Orders the program's threads against ours at the price of a compiler barrier there.
bool register_barrier() {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}
void barrier_in_all_threads() { syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); }

// Which memory, and which of its slots, this thread used last.
struct Known {
  std::uint64_t path = 0;
  void* slot = nullptr;
};
thread_local constinit Known known;

std::atomic<std::uint64_t> last_path{0};  // an address may be another path's tomorrow

}  // namespace

FastPath::FastPath(MemoryState& state)
    : state_(state), serial_(++last_path), can_close_(register_barrier()), open_(can_close_) {}

FastPath::Slot* FastPath::own_slot() {
  if (known.path == serial_) return static_cast<Slot*>(known.slot);
  const std::size_t index = slots_taken_.load() < kMostThreads ? slots_taken_.fetch_add(1) : kMostThreads;
  known = {serial_, index < kMostThreads ? &slots_[index] : nullptr};
  return static_cast<Slot*>(known.slot);
}

bool FastPath::enter(CUstream stream, std::span<const CUdeviceptr> pointers) {
  Slot* slot = own_slot();
  if (slot == nullptr) return false;
  slot->inside.store(true, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  bool usable = open_.load(std::memory_order_relaxed);
  for (const CUdeviceptr pointer : pointers) usable = usable && state_.ready_at(pointer);
  const std::uint64_t generation = state_.stream_generation.load(std::memory_order_relaxed);
  if (usable && (slot->handle != stream || slot->generation != generation || slot->stream == nullptr)) {
    usable = remember_stream(*slot, stream);
  }
  if (!usable) slot->inside.store(false, std::memory_order_release);
  return usable;
}

// A per-thread default stream is marked by its own thread after each access: the long way does that.
bool FastPath::remember_stream(Slot& slot, CUstream stream) {
  if (stream == CU_STREAM_PER_THREAD) return false;
  const std::lock_guard<std::mutex> lock(state_.mutex);
  slot.generation = state_.stream_generation.load(std::memory_order_relaxed);
  slot.handle = stream;
  slot.stream = &state_.order.stream(state_.order.index(stream, 0));
  return true;
}

void FastPath::left() {
  Slot& slot = *static_cast<Slot*>(known.slot);
  state_.order.number_lightly(*slot.stream);
  slot.passed.store(slot.passed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  slot.inside.store(false, std::memory_order_release);
}

bool FastPath::close() {
  if (open_.exchange(false)) barrier_in_all_threads();
  const std::size_t taken = std::min(slots_taken_.load(), kMostThreads);
  for (std::size_t i = 0; i < taken; ++i) {
    if (slots_[i].inside.load(std::memory_order_acquire)) return false;
  }
  return true;
}

void FastPath::open() { open_.store(can_close_, std::memory_order_release); }

std::uint64_t FastPath::passed() const {
  std::uint64_t sum = 0;
  for (const Slot& slot : slots_) sum += slot.passed.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace tencache::vmm
