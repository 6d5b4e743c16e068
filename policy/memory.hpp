// Where every tensor's bytes are while a step is simulated, ordered by next use so that the questions a
// planner asks take constant or logarithmic time. In HBM lies a prefix of a tensor, `resident`; of that the
// prefix `dirty` has no copy below; the rest may be dropped. Fetching extends the prefix, dropping shortens
// it, copying out shortens `dirty`. Used by the simulator, which changes it, and by strategies, which look.
// Thread rule: one caller at a time. Failure rule: callers keep the invariants; nothing is checked here.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "policy/position_set.hpp"
#include "policy/step.hpp"

namespace tencache::policy {

inline constexpr TensorIndex kNoTensor = ~TensorIndex{0};

struct TensorState {
  std::int64_t size = 0;
  std::int64_t resident = 0;
  std::int64_t incoming = 0;  // on the link or being mapped, right behind `resident`
  std::int64_t dirty = 0;
  std::int64_t dying = 0;    // of the life before, while its last kernel runs
  std::int64_t suspect = 0;  // touched since it last was known to equal its copy; never less than `dirty`
  Position next = kNoPosition;
  Position last = kNoPosition;
  std::uint32_t pins = 0;        // admitted kernels that touch it
  std::uint32_t write_pins = 0;  // and that write it (touch it, where writes are unknown)
  std::uint32_t touches = 0;     // counts, so that a copy made meanwhile is known to be void
  bool exists = false;
  bool checking = false;    // a fingerprint of it is under way
  std::uint8_t listed = 0;  // in which sets it is, at `next`
};

class Memory {
 public:
  Memory(const Step& step, std::int64_t capacity, bool writes_known);

  [[nodiscard]] const Step& step() const { return step_; }
  [[nodiscard]] const TensorState& operator[](TensorIndex tensor) const { return tensors_[tensor]; }
  [[nodiscard]] std::int64_t free() const { return free_; }
  [[nodiscard]] std::int64_t capacity() const { return capacity_; }
  // The first kernel not yet admitted.
  [[nodiscard]] KernelIndex next_kernel() const { return next_kernel_; }
  // Positions on from now: the same use in the next step is positions() later.
  [[nodiscard]] Position ahead(Position position) const {
    return position >= front_ ? position : position + step_.positions();
  }
  [[nodiscard]] Position front() const { return front_; }
  // One past the last position of the kernel that the use at `position` belongs to, as `ahead` counts.
  [[nodiscard]] Position end_of_kernel(Position position) const {
    const Position end = step_.end(step_.use(position).kernel);
    return position >= front_ ? end : end + step_.positions();
  }

  // The tensor not wholly in HBM (nor coming) whose next use is nearest.
  [[nodiscard]] TensorIndex nearest_missing() const;
  // The tensor with bytes that may be dropped now, next used last of all and not before `after`.
  [[nodiscard]] TensorIndex farthest_droppable(Position after) const;
  // The same of tensors with bytes that must be copied out before they may go,
  [[nodiscard]] TensorIndex farthest_cleanable(Position after) const;
  // and of tensors with bytes that must be compared first.
  [[nodiscard]] TensorIndex farthest_suspect(Position after) const;
  // Bytes in HBM of tensors next used at or behind `after`.
  [[nodiscard]] std::int64_t resident_behind(Position after) const;
  [[nodiscard]] bool cleanable(TensorIndex tensor) const {
    const TensorState& state = tensors_[tensor];
    return state.exists && state.write_pins == 0 && !state.checking && state.dirty > 0;
  }
  [[nodiscard]] bool suspect(TensorIndex tensor) const {
    const TensorState& state = tensors_[tensor];
    return state.exists && state.write_pins == 0 && !state.checking && state.suspect > state.dirty;
  }
  [[nodiscard]] bool inputs_resident(KernelIndex kernel) const;
  [[nodiscard]] std::int64_t droppable(TensorIndex tensor) const {
    return tensors_[tensor].resident - tensors_[tensor].suspect;
  }

  void admit(KernelIndex kernel);
  void complete(KernelIndex kernel);
  void begin_fetch(TensorIndex tensor, std::int64_t bytes);
  void finish_fetch(TensorIndex tensor, std::int64_t bytes);
  void drop(TensorIndex tensor, std::int64_t bytes);
  void set_clean_from(TensorIndex tensor, std::int64_t dirty, std::int64_t suspect);
  void set_checking(TensorIndex tensor, bool checking);
  // Takes `bytes` out of what is free, or gives them back (negative).
  void reserve(std::int64_t bytes) { free_ -= bytes; }

 private:
  [[nodiscard]] std::uint8_t wanted(TensorIndex tensor) const;
  void list(TensorIndex tensor) { relist(tensors_[tensor], wanted(tensor)); }
  void unlist(TensorIndex tensor) { relist(tensors_[tensor], 0); }
  void relist(TensorState& state, std::uint8_t listed);
  void add_resident(Position position, std::int64_t bytes);
  [[nodiscard]] std::int64_t resident_before(Position position) const;
  [[nodiscard]] TensorIndex farthest(const PositionSet& set, Position after) const;
  [[nodiscard]] TensorIndex tensor_at(Position position) const {
    return position == PositionSet::kNone ? kNoTensor : step_.use(position).tensor;
  }

  const Step& step_;
  std::vector<TensorState> tensors_;
  enum : std::uint8_t { kMissing, kDroppable, kCleanable, kSuspect, kSets };
  std::array<PositionSet, kSets> sets_;      // by next use
  std::vector<std::int64_t> resident_tree_;  // Fenwick tree of resident bytes by next use
  std::int64_t resident_total_ = 0;
  std::int64_t capacity_;
  std::int64_t free_;
  KernelIndex next_kernel_ = 0;
  Position front_ = 0;
  bool writes_known_;
};

}  // namespace tencache::policy
