// The questions the simulator asks whoever decides what moves. One file each answers them: LRU, UVM, the
// successor table, the sliding window, Belady, greedy, the plan. Thread rule: one caller at a time. Failure
// rule: a strategy may always answer 'nothing'; the simulator then breaks a deadlock itself.
#pragma once

#include <cstdint>

#include "policy/memory.hpp"

namespace tencache::policy {

struct Moment {
  double now;             // seconds since the simulation began
  std::uint64_t started;  // kernels started so far; the last of them may still run
  bool waiting;           // the next kernel could be let in now, were its bytes there
  bool stalled;           // and the GPU is about to have nothing else to do
  bool short_of_room;     // it waits, and there was nothing to drop for it
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  // Before the first kernel. `memory` outlives the simulation.
  virtual void begin(const Memory& memory, std::int64_t block) {
    memory_ = &memory;
    block_ = block;
  }
  virtual void admitted(KernelIndex /*kernel*/) {}
  virtual void completed(KernelIndex /*kernel*/) {}
  // The link into HBM is idle: a tensor to bring a block of, or kNoTensor.
  virtual TensorIndex next_fetch(const Moment& moment) = 0;
  // The link out of HBM is idle: a tensor to copy a block of out, or kNoTensor.
  virtual TensorIndex next_clean(const Moment& moment) = 0;
  // Where writes are unknown: a suspect tensor to compare with its copy, or kNoTensor. It takes GPU time.
  virtual TensorIndex next_check(const Moment& /*moment*/) { return kNoTensor; }
  // How many bytes of the tensor that next_check() named are to be clean; the rest is not compared.
  [[nodiscard]] virtual std::int64_t wanted_clean(TensorIndex tensor) const {
    return (*memory_)[tensor].size;
  }
  // Whether the bytes of the tensor that are copied out may be compared later: that takes GPU time.
  [[nodiscard]] virtual bool wants_print(TensorIndex /*tensor*/) const { return true; }
  // Room is needed for something whose kernel ends at position `after`: a tensor that is droppable, or none.
  virtual TensorIndex victim(const Moment& /*moment*/, Position after) {
    return memory_->farthest_droppable(after);
  }
  // Whether room for births is made as early as mapping all of those that come takes, not the next kernel's
  // alone: what is dropped for them is gone sooner.
  [[nodiscard]] virtual bool maps_ahead() const { return false; }
  // So many uses later than what is fetched must be needed what goes for it, even where the GPU waits.
  [[nodiscard]] virtual Position fetch_margin() const { return 0; }
  // Seconds that bringing in one block costs besides the copy.
  [[nodiscard]] virtual double fetch_overhead() const { return 0; }

 protected:
  const Memory* memory_ = nullptr;
  std::int64_t block_ = 0;
};

}  // namespace tencache::policy
