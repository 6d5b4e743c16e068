// The way in while everything fits: no lock, no system call. A thread publishes that it is between asking and
// having launched (a plain store); who wants to change mappings closes the path first: one flag, one
// membarrier, then it waits for those inside. While the path is open only memory nobody can be using changes
// its mapping, so what was touched need not be noted: closing makes all that is enqueued 'may touch
// anything'. Called by DeviceMemory on the program's threads, closed by the engine. Thread rule: any thread.
// Failure rule: who cannot have a slot, or finds anything not usable, goes the long way.
#pragma once

#include <array>
#include <atomic>
#include <span>

#include "vmm/memory_state.hpp"

namespace tencache::vmm {

class FastPath {
 public:
  explicit FastPath(MemoryState& state);

  // True: enqueue it, then call `left`. False: nothing has happened.
  bool enter(CUstream stream, std::span<const CUdeviceptr> pointers);
  void left();

  // Nobody comes in any more. True once nobody is inside either.
  bool close();
  void open();
  [[nodiscard]] bool is_open() const { return open_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t passed() const;

 private:
  static constexpr std::size_t kMostThreads = 1024;
  struct alignas(64) Slot {
    std::atomic<bool> inside{false};
    std::atomic<std::uint64_t> passed{0};
    StreamOrder::Stream* stream = nullptr;
    CUstream handle = nullptr;
    std::uint64_t generation = 0;
  };

  Slot* own_slot();
  bool remember_stream(Slot& slot, CUstream stream);

  MemoryState& state_;
  const std::uint64_t serial_;
  const bool can_close_;
  std::atomic<bool> open_;
  std::atomic<std::size_t> slots_taken_{0};
  std::array<Slot, kMostThreads> slots_;
};

}  // namespace tencache::vmm
