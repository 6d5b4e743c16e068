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

}  // namespace

void PolicyAdvisor::extent_created(const vmm::NewExtent& extent) {
  policy_->extent_created({extent.extent, extent.group, extent.creation_order, extent.allocation_size,
                           extent.offset, extent.size});
}

void PolicyAdvisor::extent_destroyed(vmm::ExtentIndex extent) { policy_->extent_destroyed(extent); }

void PolicyAdvisor::access(const vmm::AdvisedAccess& access) {
  policy_->access({access.number, access.stream, access.enqueued_at, access.signature, access.opaque,
                   access.will_touch, access.may_touch});
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

policy::Residency PolicyAdvisor::residency(const vmm::MemoryView& view) {
  extents_.resize(view.extents.size());
  for (std::size_t i = 0; i < extents_.size(); ++i) {
    const vmm::ExtentView& extent = view.extents[i];
    extents_[i] = {tier_of(extent.home), extent.exists, extent.clean,
                   extent.moving,        extent.held,   extent.size};
  }
  return {extents_, view.hbm_free, view.hbm_total, view.host_free, view.now};
}

}  // namespace tencache::runtime
