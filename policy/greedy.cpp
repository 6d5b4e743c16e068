#include "policy/greedy.hpp"

namespace tencache::policy {

Greedy::Greedy(const Step& step, double look_ahead_seconds)
    : look_ahead_(step), look_ahead_seconds_(look_ahead_seconds) {}

bool Greedy::due(KernelIndex kernel) const {
  return look_ahead_.seconds(memory_->next_kernel(), kernel) <= look_ahead_seconds_;
}

TensorIndex Greedy::next_fetch(const Moment& moment) {
  const TensorIndex tensor = memory_->nearest_missing();
  if (tensor == kNoTensor) return kNoTensor;
  const TensorState& state = (*memory_)[tensor];
  const KernelIndex kernel = memory_->step().use(state.next).kernel;
  if (moment.stalled && kernel == memory_->next_kernel()) return tensor;
  const std::int64_t room = std::min(block_, state.size - state.resident - state.incoming) +
                            look_ahead_.growth(memory_->next_kernel(), kernel);
  if (memory_->free() >= room) return tensor;
  // What a waiting kernel's births need must not go to a later one: the two would take it from each other.
  if (moment.stalled || !due(kernel)) return kNoTensor;
  const Position after = memory_->end_of_kernel(state.next);
  return memory_->free() + memory_->resident_behind(after) >= room ? tensor : kNoTensor;
}

// Comparing costs GPU time, so only what will not be used for long, and only when room is short.
TensorIndex Greedy::next_check(const Moment& /*moment*/) {
  if (memory_->free() > memory_->capacity() / 10) return kNoTensor;
  const TensorIndex tensor = memory_->farthest_suspect(memory_->front());
  if (tensor == kNoTensor) return kNoTensor;
  const KernelIndex kernel = memory_->step().use((*memory_)[tensor].next).kernel;
  return due(kernel) ? kNoTensor : tensor;
}

TensorIndex Greedy::next_clean(const Moment& /*moment*/) {
  return memory_->farthest_cleanable(memory_->front());
}

}  // namespace tencache::policy
