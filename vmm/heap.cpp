#include "vmm/heap.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tencache::vmm {

namespace {

constexpr Bytes kSmallestSlot = 512_B;

}  // namespace

Heap::Heap(MemoryState& state, CUdeviceptr base, Bytes size, Bytes capacity)
    : state_(state), addresses_(base, size), first_(base), highest_(base), capacity_(capacity) {}

// Slots grow in quarters of a power of two, so that rounding wastes at most a fifth.
Bytes Heap::slot_size(Bytes asked) const {
  if (asked > state_.settings.small_block / 2) return round_up(asked, state_.settings.small_block);
  const Bytes power(std::bit_ceil(std::max(asked.count(), kSmallestSlot.count())));
  return std::max(round_up(asked, std::max(power / 8, kSmallestSlot)), kSmallestSlot);
}

Result<CUdeviceptr> Heap::allocate(const AllocationAsk& ask) {
  if (ask.size > capacity_) return Status(StatusCode::kOutOfMemory, "larger than all tiers together");
  const Bytes slot = slot_size(ask.size);
  const bool large = slot >= state_.settings.small_block;
  FreeList& list = large ? free_groups_[slot] : free_slots_[slot];
  if (const auto found = take_free(list, ask)) return reuse(*found, ask);
  const Bytes size = large ? slot : state_.settings.small_block;
  Result<GroupIndex> made = make_group(size, slot);
  if (!made.ok()) return made.status();
  Group& group = state_.groups[*made];
  for (auto i = static_cast<std::uint32_t>(group.slots.size() - 1); i > 0; --i) {
    list.push_back({*made, i, false, {}});
  }
  hand_out(group, 0, ask);
  announce(group);
  return group.address;
}

// The last freed that may be had now: its work is done, or is ordered before the asker's by their stream.
std::optional<Heap::FreeSlot> Heap::take_free(FreeList& list, const AllocationAsk& ask) {
  passed_over_ = false;
  for (auto slot = list.rbegin(); slot != list.rend(); ++slot) {
    const bool ordered = ask.async && slot->pending && slot->until.stream == ask.stream;
    if (slot->pending && !ordered && !state_.order.done(slot->until)) {
      passed_over_ = true;
      continue;
    }
    const FreeSlot found = *slot;
    list.erase(std::next(slot).base());
    return found;
  }
  return std::nullopt;
}

Result<CUdeviceptr> Heap::reuse(const FreeSlot& slot, const AllocationAsk& ask) {
  Group& group = state_.groups[slot.group];
  const bool anew = group.freed;
  if (anew && !charge(group.size)) {
    free_list(group).push_back(slot);
    return Status(StatusCode::kOutOfMemory, "all tiers are promised");
  }
  group.freed = false;
  if (anew) {  // nobody follows what the freed bytes say
    group.has_old_bytes = true;
    group.holds.clear();
    group.landmarks.clear();
  }
  if (anew && group.slots.size() > 1) std::erase(empty_slabs_, slot.group);
  count(state_.statistics.reused);
  if (slot.pending) group.uses.add(slot.until);
  state_.refresh_ready(slot.group);
  hand_out(group, slot.slot, ask);
  if (anew) announce(group);
  return group.address + group.slot_size.count() * slot.slot;
}

void Heap::hand_out(Group& group, std::uint32_t slot, const AllocationAsk& ask) {
  group.slots[slot] = {ask.size, true, ask.async, ++last_buffer_id_, ask.context, ask.pool, false};
  ++group.live_slots;
  count(state_.statistics.allocations);
  live_ += ask.size;
  set_level(state_.statistics.live_bytes, state_.statistics.live_peak, live_);
}

// A reused group is a new allocation to whoever learns; a slab is one until nothing lives in it.
void Heap::announce(Group& group) {
  group.creation_order = ++created_;
  Bytes offset;
  for (const ExtentIndex index : group.extents) {
    const Extent& extent = state_.extents[index];
    state_.advisor.extent_created(
        {index, extent.group, group.creation_order, group.size, offset, extent.size});
    offset += extent.size;
  }
}

bool Heap::charge(Bytes size) {
  if (charged_ + size > capacity_) return false;
  charged_ += size;
  return true;
}

Result<GroupIndex> Heap::make_group(Bytes size, Bytes slot) {
  if (!charge(size)) return Status(StatusCode::kOutOfMemory, "all tiers are promised");
  const Bytes guarded = size + state_.settings.small_block;  // the unit behind it belongs to nobody
  CUdeviceptr address = addresses_.take(guarded, state_.settings.small_block);
  if (address == 0 && bury_absent_groups()) address = addresses_.take(guarded, state_.settings.small_block);
  if (address == 0) {
    charged_ -= size;
    return Status(StatusCode::kOutOfMemory, "the arena has no range of that size");
  }
  GroupIndex index = static_cast<GroupIndex>(state_.groups.size());
  if (state_.unused_groups.empty()) {
    state_.groups.emplace_back();
  } else {
    index = state_.unused_groups.back();
    state_.unused_groups.pop_back();
  }
  Group& group = state_.groups[index];
  group = Group{};
  state_.refresh_ready(index);
  group.exists = true;
  group.address = address;
  group.size = size;
  group.slot_size = slot;
  group.slots.resize(size / slot);
  add_extents(index);
  state_.units.set(address, size, index);
  highest_ = std::max(highest_, address + size.count());
  return index;
}

// As many large extents as fit, then small ones.
void Heap::add_extents(GroupIndex index) {
  Group& group = state_.groups[index];
  for (Bytes done; done < group.size;) {
    const Bytes left = group.size - done;
    const Bytes size =
        left >= state_.settings.large_block ? state_.settings.large_block : state_.settings.small_block;
    ExtentIndex extent = static_cast<ExtentIndex>(state_.extents.size());
    if (state_.unused_extents.empty()) {
      state_.extents.emplace_back();
    } else {
      extent = state_.unused_extents.back();
      state_.unused_extents.pop_back();
    }
    state_.extents[extent] = Extent{.address = group.address + done.count(), .size = size, .group = index};
    group.extents.push_back(extent);
    done += size;
  }
}

Heap::Place Heap::find(CUdeviceptr address) const {
  const GroupIndex index = state_.units.group_at(address);
  if (index == kNoGroup) return {};
  const Group& group = state_.groups[index];
  const std::uint64_t slot = (address - group.address) / group.slot_size.count();
  if (slot >= group.slots.size() || !group.slots[slot].live) return {};
  const CUdeviceptr base = group.address + slot * group.slot_size.count();
  if (address - base >= group.slots[slot].asked.count()) return {};
  return {&group.slots[slot], base};
}

// As the driver judges a copy: by the memory, which is a little more than was asked for.
bool Heap::set_synchronous(CUdeviceptr address, bool synchronous) {
  const Place place = find(address);
  if (place.allocation == nullptr) return false;
  find_base(place.base)->synchronous = synchronous;
  return true;
}

bool Heap::is_live_range(CUdeviceptr address, Bytes size) const {
  const Place place = find(address);
  if (place.allocation == nullptr) return false;
  const Group& group = state_.groups[state_.units.group_at(address)];
  return address + size.count() <= group.address + group.size.count();
}

Allocation* Heap::find_base(CUdeviceptr address) {
  const Place place = find(address);
  return place.allocation != nullptr && place.base == address ? const_cast<Allocation*>(place.allocation)
                                                              : nullptr;
}

void Heap::free(CUdeviceptr address, const Use* pending) {
  const GroupIndex index = state_.units.group_at(address);
  Group& group = state_.groups[index];
  const auto slot = static_cast<std::uint32_t>((address - group.address) / group.slot_size.count());
  live_ -= group.slots[slot].asked;
  set_level(state_.statistics.live_bytes, state_.statistics.live_peak, live_);
  group.slots[slot] = {};
  count(state_.statistics.frees);
  --group.live_slots;
  if (pending != nullptr) group.uses.add(*pending);
  const FreeSlot freed{index, slot, pending != nullptr, pending != nullptr ? *pending : Use{}};
  free_list(group).push_back(freed);
  if (group.live_slots > 0) return;
  group.freed = true;
  if (std::exchange(group.frozen, false)) state_.frozen -= group.size;
  std::erase_if(state_.described, [index](const auto& one) { return one.group == index; });
  group.freed_at_look = state_.idle_look;
  if (group.slots.size() > 1) empty_slabs_.push_back(index);
  state_.refresh_ready(index);
  group.forget_writers();
  charged_ -= group.size;
  for (const ExtentIndex extent : group.extents) state_.advisor.extent_destroyed(extent);
}

Heap::FreeList& Heap::free_list(const Group& group) {
  return group.slots.size() > 1 ? free_slots_[group.slot_size] : free_groups_[group.size];
}

std::uint64_t Heap::units_in_use() const { return (highest_ - first_) / state_.settings.small_block.count(); }

std::vector<GroupIndex> Heap::freed_groups() const {
  std::vector<GroupIndex> freed = empty_slabs_;
  for (const auto& [size, list] : free_groups_) {
    for (const FreeSlot& slot : list) freed.push_back(slot.group);
  }
  return freed;
}

// Gives up freed groups that hold no bytes any more, so that their addresses serve other sizes.
bool Heap::bury_absent_groups() {
  bool buried = false;
  for (auto& [size, list] : free_groups_) {
    buried |= std::erase_if(list, [this](const FreeSlot& slot) { return bury_if_absent(slot.group); }) > 0;
  }
  buried |= std::erase_if(empty_slabs_, [this](GroupIndex slab) {
              FreeList& list = free_list(state_.groups[slab]);
              if (!bury_if_absent(slab)) return false;
              std::erase_if(list, [slab](const FreeSlot& slot) { return slot.group == slab; });
              return true;
            }) > 0;
  return buried;
}

bool Heap::bury_if_absent(GroupIndex index) {
  Group& group = state_.groups[index];
  const bool absent = std::all_of(group.extents.begin(), group.extents.end(), [this](ExtentIndex extent) {
    return state_.extents[extent].state == ExtentState::kAbsent && !state_.extents[extent].move_in_flight;
  });
  if (!absent || !state_.idle(group)) return false;
  state_.units.set(group.address, group.size, kNoGroup);
  addresses_.give_back(group.address, group.size + state_.settings.small_block);
  for (const ExtentIndex extent : group.extents) state_.unused_extents.push_back(extent);
  group = Group{};
  state_.unused_groups.push_back(index);
  return true;
}

}  // namespace tencache::vmm
