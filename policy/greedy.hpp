// Greedy with the future known: drop the farthest tensor that has clean bytes, clean eagerly, take room for
// births when they come, fetch what is needed within a fixed time. The planner learns from its run, and it
// is what runs while there is no plan. Thread rule and failure rule as in strategy.hpp.
#pragma once

#include "policy/look_ahead.hpp"
#include "policy/strategy.hpp"

namespace tencache::policy {

class Greedy : public Strategy {
 public:
  explicit Greedy(const Step& step, double look_ahead_seconds = 0.3);
  TensorIndex next_fetch(const Moment& moment) override;
  TensorIndex next_clean(const Moment& moment) override;
  TensorIndex next_check(const Moment& moment) override;

 protected:
  // Whether a fetch for `kernel` may displace something.
  [[nodiscard]] virtual bool due(KernelIndex kernel) const;
  const LookAhead look_ahead_;

 private:
  double look_ahead_seconds_;
};

}  // namespace tencache::policy
