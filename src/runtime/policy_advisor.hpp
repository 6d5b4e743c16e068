// Gives a policy its say in the mechanism: translates what vmm tells and asks into the policy's words. Called
// by vmm. Thread rule: under the memory's mutex. Failure rule: passes the policy's 'nothing' on.
#pragma once

#include <memory>

#include "policy/policy.hpp"
#include "vmm/advisor.hpp"

namespace tencache::runtime {

class PolicyAdvisor final : public vmm::Advisor {
 public:
  explicit PolicyAdvisor(std::unique_ptr<policy::Policy> policy) : policy_(std::move(policy)) {}
  void extent_created(const vmm::NewExtent& extent) override;
  void extent_destroyed(vmm::ExtentIndex extent) override;
  void access(const vmm::AdvisedAccess& access) override;
  std::optional<vmm::ExtentIndex> victim(const vmm::MemoryView& view) override;
  std::optional<vmm::ExtentIndex> next_fetch(const vmm::MemoryView& view) override;
  std::optional<vmm::ExtentIndex> next_clean(const vmm::MemoryView& view) override;
  void completed(vmm::StreamIndex stream, std::uint64_t number, Nanoseconds begin, Nanoseconds end) override;
  void copied(const vmm::Transfer& transfer) override;
  void remapped(std::uint32_t extents, Nanoseconds took) override;
  void examined(vmm::ExtentIndex extent, vmm::Finding finding) override;
  std::unique_ptr<vmm::Work> work(const vmm::MemoryView& view) override;
  void worked(std::unique_ptr<vmm::Work> work) override;
  [[nodiscard]] std::optional<policy::Trace> recorded_step() const { return policy_->recorded_step(); }

 private:
  std::unique_ptr<policy::Policy> policy_;
};

}  // namespace tencache::runtime
