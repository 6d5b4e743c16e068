// Runs a Policy, the very object that the runtime uses, in the simulator: every tensor is an allocation, its
// blocks are the extents. Thread rule and failure rule as in strategy.hpp.
#pragma once

#include <memory>
#include <vector>

#include "policy/machine.hpp"
#include "policy/policy.hpp"
#include "policy/strategy.hpp"

namespace tencache::policy {

class PolicyStrategy final : public Strategy {
 public:
  PolicyStrategy(std::unique_ptr<Policy> policy, const Machine& machine)
      : policy_(std::move(policy)), machine_(machine) {}
  void begin(const Memory& memory, std::int64_t block) override;
  void admitted(KernelIndex kernel) override;
  void completed(KernelIndex kernel) override;
  TensorIndex next_fetch(const Moment& moment) override;
  TensorIndex next_clean(const Moment& moment) override;
  TensorIndex next_check(const Moment& moment) override;
  TensorIndex victim(const Moment& moment, Position after) override;

 private:
  [[nodiscard]] std::uint64_t signature(KernelIndex kernel) const;
  void create(TensorIndex tensor);
  void describe(TensorIndex tensor, bool held);
  [[nodiscard]] Residency residency(const Moment& moment, Position after);
  [[nodiscard]] TensorIndex tensor_of(ExtentIndex extent) const { return tensor_of_[extent]; }

  // What extents_ was last made from, so that only what has changed is described anew.
  struct Described {
    std::int64_t resident = -1;
    std::int64_t incoming = 0;
    std::int64_t suspect = 0;
    bool exists = false;
    bool held = false;
    bool operator==(const Described&) const = default;
  };

  void measure();

  std::unique_ptr<Policy> policy_;
  Machine machine_;
  std::vector<ExtentIndex> first_;      // per tensor, and one more
  std::vector<TensorIndex> tensor_of_;  // per extent
  std::vector<ExtentState> extents_;
  std::vector<Described> described_;  // per tensor
  std::vector<ExtentIndex> touched_;
  std::vector<std::uint64_t> signatures_;  // per kernel: what it does, not to which tensors
  double now_ = 0;                         // when the policy was last asked
  std::uint64_t accesses_ = 0;
  std::uint64_t creations_ = 0;
  std::uint64_t ended_ = 0;
  TensorIndex leaving_ = kNoTensor;
};

}  // namespace tencache::policy
