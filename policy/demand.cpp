#include "policy/demand.hpp"

#include <utility>

namespace tencache::policy {

void Demand::begin(const Memory& memory, std::int64_t block) {
  Strategy::begin(memory, block);
  last_admission_.assign(memory.step().tensors(), 0);
  admissions_ = 0;
  leaving_ = kNoTensor;
}

void Demand::admitted(KernelIndex kernel) {
  ++admissions_;
  for (const Use& use : memory_->step().uses(kernel)) last_admission_[use.tensor] = admissions_;
}

TensorIndex Demand::next_fetch(const Moment& moment) {
  const TensorIndex tensor = memory_->nearest_missing();
  if (tensor == kNoTensor) return kNoTensor;
  const bool waited_for = memory_->step().use((*memory_)[tensor].next).kernel == memory_->next_kernel();
  return moment.waiting && waited_for ? tensor : prefetch(moment);
}

TensorIndex Demand::next_clean(const Moment& moment) {
  const TensorIndex leaving = take_leaving();
  return leaving != kNoTensor ? leaving : preclean(moment);
}

TensorIndex Demand::take_leaving() {
  const TensorIndex leaving = std::exchange(leaving_, kNoTensor);
  if (leaving == kNoTensor) return kNoTensor;
  return memory_->cleanable(leaving) ? leaving : kNoTensor;
}

TensorIndex Demand::next_check(const Moment& /*moment*/) {
  return leaving_ != kNoTensor && memory_->suspect(leaving_) ? leaving_ : kNoTensor;
}

// Whether the tensor may leave: in HBM, not touched by a kernel under way, next used at `after` or later.
bool Demand::in_reach(TensorIndex tensor, Position after) const {
  const TensorState& state = (*memory_)[tensor];
  return state.resident > 0 && state.pins == 0 && state.incoming == 0 && state.next != kNoPosition &&
         memory_->ahead(state.next) >= after;
}

TensorIndex Demand::victim(const Moment& /*moment*/, Position after) {
  TensorIndex best = kNoTensor;
  double best_score = -1;
  for (TensorIndex tensor = 0; tensor < memory_->step().tensors(); ++tensor) {
    if (!in_reach(tensor, after)) continue;
    const double value = score(tensor, after);
    if (value > best_score) best_score = value, best = tensor;
  }
  if (best == kNoTensor || memory_->droppable(best) > 0) return best;
  leaving_ = best;
  return kNoTensor;
}

}  // namespace tencache::policy
