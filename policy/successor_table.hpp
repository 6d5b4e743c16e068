// As DeepUM does: what followed each kernel last time is brought in a few kernels ahead; what was touched
// longest ago and is not expected soon leaves, copied out early. Thread rule and failure rule as in
// strategy.hpp.
#pragma once

#include "policy/demand.hpp"
#include "policy/look_ahead.hpp"

namespace tencache::policy {

class SuccessorTable final : public Demand {
 public:
  explicit SuccessorTable(const Step& step) : look_ahead_(step) {}

 protected:
  TensorIndex prefetch(const Moment&) override {
    const TensorIndex tensor = memory_->nearest_missing();
    return distance(tensor) <= kKernelsAhead ? tensor : kNoTensor;
  }
  TensorIndex preclean(const Moment& moment) override {
    if (memory_->free() > memory_->capacity() / kCleanBelow) return kNoTensor;
    victim(moment, memory_->front());
    return take_leaving();
  }
  [[nodiscard]] double score(TensorIndex tensor, Position) const override {
    if (distance(tensor) <= kKernelsAhead) return -1;
    return static_cast<double>(admissions() - last_admission(tensor));
  }

 private:
  static constexpr KernelIndex kKernelsAhead = 8;
  static constexpr std::int64_t kCleanBelow = 10;  // of capacity, as a divisor
  [[nodiscard]] KernelIndex distance(TensorIndex tensor) const {
    return look_ahead_.distance(memory_->next_kernel(), memory_->step().use((*memory_)[tensor].next).kernel);
  }
  const LookAhead look_ahead_;
};

}  // namespace tencache::policy
