// As 10Cache does: a window slides over the table of uses; what has just been used leaves, and the next row
// not in the window takes its place. Thread rule and failure rule as in strategy.hpp.
#pragma once

#include "policy/demand.hpp"

namespace tencache::policy {

class SlidingWindow final : public Demand {
 protected:
  TensorIndex prefetch(const Moment&) override { return memory_->nearest_missing(); }
  TensorIndex preclean(const Moment&) override { return kNoTensor; }
  [[nodiscard]] double score(TensorIndex tensor, Position) const override {
    return static_cast<double>(last_admission(tensor));
  }
};

}  // namespace tencache::policy
