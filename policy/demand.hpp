// What policies without a plan have in common: bring in what a waiting kernel needs, put out what their own
// order names, copying it out first if it is dirty. Thread rule and failure rule as in strategy.hpp.
#pragma once

#include <vector>

#include "policy/strategy.hpp"

namespace tencache::policy {

class Demand : public Strategy {
 public:
  void begin(const Memory& memory, std::int64_t block) override;
  void admitted(KernelIndex kernel) override;
  TensorIndex next_fetch(const Moment& moment) override;
  TensorIndex next_clean(const Moment& moment) override;
  TensorIndex next_check(const Moment& moment) override;
  TensorIndex victim(const Moment& moment, Position after) override;

 protected:
  // What to bring in while nothing waits; none by default.
  virtual TensorIndex prefetch(const Moment& /*moment*/) { return kNoTensor; }
  // What to copy out while nothing waits; none by default.
  virtual TensorIndex preclean(const Moment& /*moment*/) { return kNoTensor; }
  // The tensor with the highest score goes first; below 0: it stays.
  [[nodiscard]] virtual double score(TensorIndex tensor, Position after) const = 0;
  [[nodiscard]] bool in_reach(TensorIndex tensor, Position after) const;
  [[nodiscard]] std::uint64_t last_admission(TensorIndex tensor) const { return last_admission_[tensor]; }
  [[nodiscard]] std::uint64_t admissions() const { return admissions_; }

  // The tensor that the last call of victim() found must be copied out first, if that can begin now.
  TensorIndex take_leaving();

 private:
  std::vector<std::uint64_t> last_admission_;
  std::uint64_t admissions_ = 0;
  TensorIndex leaving_ = kNoTensor;  // the victim that must be copied out first
};

}  // namespace tencache::policy
