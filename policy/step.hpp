// A trace seen as a cycle: every use of every tensor has a position, and knows the position of the same
// tensor's next use, around the end of the step if need be. Built once for a trace; used by the bound, the
// planner and the simulator. Thread rule: constant once built. Failure rule: nothing here fails.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policy/trace.hpp"

namespace tencache::policy {

using Position = std::uint32_t;  // index of a use, in program order
inline constexpr Position kNoPosition = ~Position{0};

struct Use {
  KernelIndex kernel;
  TensorIndex tensor;
  Position next;      // the same tensor's next use, cyclic
  Position previous;  // and the one before
  bool writes;
  bool birth;  // a transient's first use: it needs room, but nothing is brought in. One that is read first is
               // the program's input: it begins clean, its bytes having a copy below
  bool death;  // a transient's last use
};

class Step {
 public:
  explicit Step(const Trace& trace);

  [[nodiscard]] std::uint32_t kernels() const { return static_cast<std::uint32_t>(seconds_.size()); }
  [[nodiscard]] std::uint32_t tensors() const { return static_cast<std::uint32_t>(size_.size()); }
  [[nodiscard]] Position positions() const { return static_cast<Position>(uses_.size()); }
  [[nodiscard]] const Use& use(Position position) const { return uses_[position]; }
  [[nodiscard]] Position begin(KernelIndex kernel) const { return begin_[kernel]; }
  [[nodiscard]] Position end(KernelIndex kernel) const { return begin_[kernel + 1]; }
  [[nodiscard]] std::span<const Use> uses(KernelIndex kernel) const {
    return {uses_.data() + begin_[kernel], uses_.data() + begin_[kernel + 1]};
  }

  [[nodiscard]] std::int64_t size(TensorIndex tensor) const { return size_[tensor]; }
  [[nodiscard]] bool persistent(TensorIndex tensor) const { return persistent_[tensor] != 0; }
  [[nodiscard]] Position first_use(TensorIndex tensor) const { return first_use_[tensor]; }

  [[nodiscard]] double seconds(KernelIndex kernel) const { return seconds_[kernel]; }
  [[nodiscard]] double host_gap(KernelIndex kernel) const { return host_gap_[kernel]; }
  // Sum of the durations of the kernels before this one.
  [[nodiscard]] double start(KernelIndex kernel) const { return start_[kernel]; }
  [[nodiscard]] double ideal() const { return start_.back(); }

  [[nodiscard]] std::int64_t births(KernelIndex kernel) const { return births_[kernel]; }
  [[nodiscard]] std::int64_t transient_live(KernelIndex kernel) const { return transient_live_[kernel]; }
  [[nodiscard]] std::int64_t touched(KernelIndex kernel) const { return touched_[kernel]; }
  [[nodiscard]] std::int64_t persistent_bytes() const { return persistent_bytes_; }
  // The most bytes alive at once: with this much HBM nothing ever moves.
  [[nodiscard]] std::int64_t peak() const { return peak_; }

 private:
  void add_uses(const Trace& trace);
  void link_uses();
  void count_bytes();

  std::vector<Use> uses_;
  std::vector<Position> begin_;
  std::vector<Position> first_use_;
  std::vector<std::int64_t> size_;
  std::vector<std::uint8_t> persistent_;
  std::vector<double> seconds_, host_gap_, start_;
  std::vector<std::int64_t> births_, transient_live_, touched_;
  std::int64_t persistent_bytes_ = 0;
  std::int64_t peak_ = 0;
};

}  // namespace tencache::policy
