#include "src/runtime/policy_advisor.hpp"

namespace tencache::runtime {

namespace {

policy::Tier tier_of(vmm::Home home) {
  switch (home) {
    case vmm::Home::kHbm:
      return policy::Tier::kHbm;
    case vmm::Home::kHost:
      return policy::Tier::kHost;
    case vmm::Home::kNone:
      break;
  }
  return policy::Tier::kNone;
}

policy::ExtentState state_of(const void* views, policy::ExtentIndex index) {
  const vmm::ExtentView extent = (*static_cast<const vmm::ExtentViews*>(views))[index];
  return {tier_of(extent.home), extent.exists, extent.clean, extent.moving, extent.held, extent.size};
}

// Asks the view, which has to outlive it.
policy::Residency residency(const vmm::MemoryView& view) {
  return {{&view.extents, state_of}, view.hbm_free, view.hbm_total, view.host_free, view.now};
}

class PolicyWork final : public vmm::Work {
 public:
  explicit PolicyWork(std::unique_ptr<policy::Work> work) : work_(std::move(work)) {}
  void run(const std::atomic<bool>& stop) override { work_->run(stop); }
  std::unique_ptr<policy::Work> take() { return std::move(work_); }

 private:
  std::unique_ptr<policy::Work> work_;
};

}  // namespace

void PolicyAdvisor::extent_created(const vmm::NewExtent& extent) {
  policy_->extent_created({extent.extent, extent.group, extent.creation_order, extent.allocation_size,
                           extent.offset, extent.size});
}

void PolicyAdvisor::extent_destroyed(vmm::ExtentIndex extent) { policy_->extent_destroyed(extent); }

void PolicyAdvisor::access(const vmm::AdvisedAccess& access) {
  policy_->access({access.number, access.stream, access.enqueued_at, access.signature, access.opaque,
                   access.will_touch, access.may_touch, access.waited});
}

std::optional<vmm::ExtentIndex> PolicyAdvisor::victim(const vmm::MemoryView& view) {
  return policy_->victim(residency(view));
}

std::optional<vmm::ExtentIndex> PolicyAdvisor::next_fetch(const vmm::MemoryView& view) {
  return policy_->next_fetch(residency(view));
}

std::optional<vmm::ExtentIndex> PolicyAdvisor::next_clean(const vmm::MemoryView& view) {
  return policy_->next_clean(residency(view));
}

void PolicyAdvisor::completed(vmm::StreamIndex stream, std::uint64_t number, Nanoseconds begin,
                              Nanoseconds end) {
  policy_->completed(stream, number, begin, end);
}

void PolicyAdvisor::copied(const vmm::Transfer& transfer) {
  using Direction = policy::Transfer::Direction;
  policy_->copied({transfer.direction == vmm::Transfer::Direction::kIn ? Direction::kIn : Direction::kOut,
                   static_cast<policy::Transfer::Beside>(transfer.beside), transfer.size, transfer.took});
}

void PolicyAdvisor::remapped(std::uint32_t extents, Nanoseconds took) { policy_->remapped(extents, took); }

void PolicyAdvisor::examined(vmm::ExtentIndex extent, vmm::Finding finding) {
  policy_->examined(extent, static_cast<policy::Finding>(finding));
}

std::unique_ptr<vmm::Work> PolicyAdvisor::work(const vmm::MemoryView& view) {
  std::unique_ptr<policy::Work> work = policy_->work(residency(view));
  return work == nullptr ? nullptr : std::make_unique<PolicyWork>(std::move(work));
}

void PolicyAdvisor::worked(std::unique_ptr<vmm::Work> work) {
  policy_->worked(static_cast<PolicyWork&>(*work).take());
}

}  // namespace tencache::runtime
