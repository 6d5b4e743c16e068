// As the driver's managed memory does: faults bring in 2 MiB blocks one by one, each at the cost of a batch
// of faults; the block touched longest ago leaves. Thread rule and failure rule as in strategy.hpp.
#pragma once

#include "policy/demand.hpp"

namespace tencache::policy {

class UvmLike final : public Demand {
 public:
  [[nodiscard]] double fetch_overhead() const override { return kFaultSeconds; }

 protected:
  [[nodiscard]] double score(TensorIndex tensor, Position) const override {
    return static_cast<double>(admissions() - last_admission(tensor));
  }

 private:
  static constexpr double kFaultSeconds = 45e-6;  // as published simulators assume
};

}  // namespace tencache::policy
