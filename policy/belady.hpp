// Belady's rule and no more: farthest next use leaves, copied out when it must leave; what is needed within a
// fixed time is brought in. The future is known. Thread rule and failure rule as in strategy.hpp.
#pragma once

#include "policy/demand.hpp"
#include "policy/look_ahead.hpp"

namespace tencache::policy {

class BeladyLazy final : public Demand {
 public:
  explicit BeladyLazy(const Step& step) : look_ahead_(step) {}

 protected:
  TensorIndex prefetch(const Moment&) override {
    const TensorIndex tensor = memory_->nearest_missing();
    const KernelIndex kernel = memory_->step().use((*memory_)[tensor].next).kernel;
    return look_ahead_.seconds(memory_->next_kernel(), kernel) <= kSeconds ? tensor : kNoTensor;
  }
  [[nodiscard]] double score(TensorIndex tensor, Position) const override {
    return memory_->ahead((*memory_)[tensor].next);
  }

 private:
  static constexpr double kSeconds = 0.3;
  const LookAhead look_ahead_;
};

}  // namespace tencache::policy
