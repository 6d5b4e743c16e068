// What an access may touch, and what it is expected to touch: DESIGN 2 and 6.
#include <algorithm>

#include "vmm/admission.hpp"

namespace tencache::vmm {

namespace {
constexpr std::size_t kMostLandmarks = 4096;  // of one allocation
}

void Admission::gather(const AccessAsk& ask, InFlight* access) {
  access->groups.clear();
  access->may_touch.clear();
  access->will_touch.clear();
  ++serial_;
  seen_group_.resize(state_.groups.size());
  seen_extent_.resize(state_.extents.size());
  expected_extent_.resize(state_.extents.size());
  for (const CUdeviceptr pointer : ask.pointers) {
    const GroupIndex group = state_.units.group_at(pointer);
    if (group != kNoGroup && !state_.groups[group].freed) gather_group(group, access);
  }
  for (const AccessAsk::Span& span : ask.ranges) gather_range(span, access);
  const std::size_t named = access->groups.size();
  if (access->opaque) gather_everything(access);
  for (const GroupIndex group : state_.held_by_all) {
    if (ask.may_run_from_host && !state_.groups[group].freed) gather_group(group, access);
  }
  for (const MemoryState::Described& one : state_.described) {
    if (ask.may_run_from_host) gather_group(one.group, access);
  }
  for (std::size_t i = 0; i < access->groups.size(); ++i) {  // closed over holders
    if (!ask.may_run_from_host) break;                       // a copy follows no address
    for (const GroupIndex held : state_.groups[access->groups[i]].holds) {
      if (!state_.groups[held].freed) gather_group(held, access);
    }
  }
  access->coarse =
      access->opaque || std::any_of(access->groups.begin(), access->groups.end(),
                                    [this](GroupIndex group) { return state_.coarse(state_.groups[group]); });
  gather_expected(ask, named, access);
}

// Detached: what may be touched has to be there. Mapped: the parameters' own is what we expect.
void Admission::gather_expected(const AccessAsk& ask, std::size_t named, InFlight* access) {
  if (state_.settings.detached || !ask.may_run_from_host) {
    access->will_touch = access->may_touch;
    return;
  }
  for (std::size_t i = 0; i < named; ++i) {
    const Group& group = state_.groups[access->groups[i]];
    if (state_.coarse(group)) continue;
    access->will_touch.insert(access->will_touch.end(), group.extents.begin(), group.extents.end());
  }
  for (const CUdeviceptr pointer : ask.pointers) {
    const GroupIndex index = state_.units.group_at(pointer);
    if (index == kNoGroup || state_.groups[index].freed || !state_.coarse(state_.groups[index])) continue;
    expect_from_pointer(state_.groups[index], pointer, access);
  }
  access->runs_partly_from_host = trim_to_hbm(access);
}

// In an allocation that HBM cannot hold beside others, programs keep many tensors: one reaches from an
// address they have passed to the next such address.
void Admission::expect_from_pointer(Group& group, CUdeviceptr pointer, InFlight* access) {
  std::vector<CUdeviceptr>& known = group.landmarks;
  auto at = std::lower_bound(known.begin(), known.end(), pointer);
  const bool is_new = at == known.end() || *at != pointer;
  if (is_new && known.size() < kMostLandmarks) at = known.insert(at, pointer);
  const auto next = at != known.end() && *at == pointer ? at + 1 : at;
  const CUdeviceptr end = next != known.end() ? *next : group.address + group.size.count();
  const auto ends_before = [this, pointer](ExtentIndex index) {
    return state_.extents[index].address + state_.extents[index].size.count() <= pointer;
  };
  auto extent = std::partition_point(group.extents.begin(), group.extents.end(), ends_before);
  for (; extent != group.extents.end() && state_.extents[*extent].address < end; ++extent) {
    if (expected_extent_[*extent] == serial_) continue;
    expected_extent_[*extent] = serial_;
    access->will_touch.push_back(*extent);
  }
}

// What HBM cannot take at once is run from the host; nobody waits for it.
bool Admission::trim_to_hbm(InFlight* access) const {
  Bytes sum;
  for (std::size_t i = 0; i < access->will_touch.size(); ++i) {
    sum += state_.extents[access->will_touch[i]].size;
    if (sum <= state_.settings.hbm_budget) continue;
    access->will_touch.resize(i);
    return true;
  }
  return false;
}

void Admission::gather_group(GroupIndex index, InFlight* access) {
  if (seen_group_[index] == serial_) return;
  seen_group_[index] = serial_;
  access->groups.push_back(index);
  for (const ExtentIndex extent : state_.groups[index].extents) {
    if (seen_extent_[extent] == serial_) continue;
    seen_extent_[extent] = serial_;
    access->may_touch.push_back(extent);
  }
}

// A copy touches what its range covers and nothing else, whatever its group holds.
void Admission::gather_range(const AccessAsk::Span& span, InFlight* access) {
  const GroupIndex index = span.size.count() == 0 ? kNoGroup : state_.units.group_at(span.address);
  if (index == kNoGroup || state_.groups[index].freed) return;
  const Group& group = state_.groups[index];
  if (std::find(access->groups.begin(), access->groups.end(), index) == access->groups.end()) {
    access->groups.push_back(index);
  }
  for (const ExtentIndex extent : group.extents) {
    const Extent& one = state_.extents[extent];
    const bool apart =
        one.address >= span.address + span.size.count() || span.address >= one.address + one.size.count();
    if (apart || seen_extent_[extent] == serial_) continue;
    seen_extent_[extent] = serial_;
    access->may_touch.push_back(extent);
  }
}

void Admission::gather_everything(InFlight* access) {
  for (GroupIndex index = 0; index < state_.groups.size(); ++index) {
    const Group& group = state_.groups[index];
    if (group.exists && !group.freed) gather_group(index, access);
  }
}

}  // namespace tencache::vmm
