#include "policy/memory.hpp"

#include <utility>

namespace tencache::policy {

Memory::Memory(const Step& step, std::int64_t capacity, bool writes_known)
    : step_(step),
      tensors_(step.tensors()),
      sets_{PositionSet(step.positions()), PositionSet(step.positions()), PositionSet(step.positions()),
            PositionSet(step.positions())},
      resident_tree_(step.positions() + 1, 0),
      capacity_(capacity),
      free_(capacity),
      writes_known_(writes_known) {
  for (TensorIndex tensor = 0; tensor < step.tensors(); ++tensor) {
    TensorState& state = tensors_[tensor];
    state.size = step.size(tensor);
    state.exists = step.persistent(tensor) && step.first_use(tensor) != kNoPosition;
    if (!state.exists) continue;
    state.next = step.first_use(tensor);
    state.last = step.use(state.next).previous;
    list(tensor);
  }
}

std::uint8_t Memory::wanted(TensorIndex tensor) const {
  const TensorState& state = tensors_[tensor];
  if (!state.exists || state.next == kNoPosition) return 0;
  const bool missing = state.resident + state.incoming < state.size;
  const bool droppable = state.pins == 0 && state.incoming == 0 && state.resident > state.suspect;
  return static_cast<std::uint8_t>(missing << kMissing | droppable << kDroppable |
                                   cleanable(tensor) << kCleanable | suspect(tensor) << kSuspect);
}

void Memory::relist(TensorState& state, std::uint8_t listed) {
  if (state.listed == listed) return;
  for (std::uint8_t set = 0; set < kSets; ++set) {
    const bool is = (state.listed >> set & 1) != 0, wanted = (listed >> set & 1) != 0;
    if (is && !wanted) sets_[set].erase(state.next);
    if (!is && wanted) sets_[set].insert(state.next);
  }
  state.listed = listed;
}

void Memory::add_resident(Position position, std::int64_t bytes) {
  if (position == kNoPosition || bytes == 0) return;
  resident_total_ += bytes;
  for (Position i = position + 1; i < resident_tree_.size(); i += i & (~i + 1)) resident_tree_[i] += bytes;
}

std::int64_t Memory::resident_before(Position position) const {
  std::int64_t sum = 0;
  for (Position i = position; i > 0; i &= i - 1) sum += resident_tree_[i];
  return sum;
}

std::int64_t Memory::resident_behind(Position after) const {
  const Position all = step_.positions();
  if (after >= all) return resident_before(front_) - resident_before(after - all);
  return resident_total_ - resident_before(after) + resident_before(front_);
}

TensorIndex Memory::nearest_missing() const {
  const Position later = sets_[kMissing].next(front_);
  return tensor_at(later != PositionSet::kNone ? later : sets_[kMissing].next(0));
}

TensorIndex Memory::farthest(const PositionSet& set, Position after) const {
  const Position wrapped = set.previous(front_);
  const Position found = wrapped != PositionSet::kNone ? wrapped : set.previous(step_.positions());
  if (found == PositionSet::kNone || ahead(found) < after) return kNoTensor;
  return tensor_at(found);
}

TensorIndex Memory::farthest_droppable(Position after) const { return farthest(sets_[kDroppable], after); }
TensorIndex Memory::farthest_cleanable(Position after) const { return farthest(sets_[kCleanable], after); }
TensorIndex Memory::farthest_suspect(Position after) const { return farthest(sets_[kSuspect], after); }

bool Memory::inputs_resident(KernelIndex kernel) const {
  for (const Use& use : step_.uses(kernel)) {
    if (!use.birth && tensors_[use.tensor].resident < tensors_[use.tensor].size) return false;
  }
  return true;
}

void Memory::admit(KernelIndex kernel) {
  for (Position position = step_.begin(kernel); position < step_.end(kernel); ++position) {
    const Use& use = step_.use(position);
    TensorState& state = tensors_[use.tensor];
    unlist(use.tensor);
    if (use.birth) {
      state.dying += state.resident;  // of the last step, its last kernel being still under way
      state.exists = true;
      state.resident = state.size;
      state.dirty = state.suspect = 0;
      free_ -= state.size;
    } else {
      add_resident(state.next, -state.resident);
    }
    const bool touched = use.writes || !writes_known_;
    if (use.writes) state.dirty = state.size;
    if (touched) state.suspect = state.size;
    if (touched || use.birth) ++state.touches;
    state.write_pins += touched ? 1 : 0;
    ++state.pins;
    state.last = position;
    state.next = use.death ? kNoPosition : use.next;
    add_resident(state.next, state.resident);
    list(use.tensor);
  }
  next_kernel_ = kernel + 1 == step_.kernels() ? 0 : kernel + 1;
  front_ = step_.begin(next_kernel_);
}

void Memory::complete(KernelIndex kernel) {
  for (const Use& use : step_.uses(kernel)) {
    TensorState& state = tensors_[use.tensor];
    --state.pins;
    state.write_pins -= use.writes || !writes_known_ ? 1 : 0;
    if (use.death && state.dying > 0) {
      free_ += std::exchange(state.dying, 0);
    } else if (use.death) {
      free_ += state.resident;
      state.exists = false;
      state.resident = state.dirty = state.suspect = 0;
      ++state.touches;
    }
    list(use.tensor);
  }
}

void Memory::begin_fetch(TensorIndex tensor, std::int64_t bytes) {
  tensors_[tensor].incoming += bytes;
  free_ -= bytes;
  list(tensor);
}

void Memory::finish_fetch(TensorIndex tensor, std::int64_t bytes) {
  tensors_[tensor].incoming -= bytes;
  tensors_[tensor].resident += bytes;
  add_resident(tensors_[tensor].next, bytes);
  list(tensor);
}

void Memory::drop(TensorIndex tensor, std::int64_t bytes) {
  tensors_[tensor].resident -= bytes;
  free_ += bytes;
  add_resident(tensors_[tensor].next, -bytes);
  list(tensor);
}

void Memory::set_clean_from(TensorIndex tensor, std::int64_t dirty, std::int64_t suspect) {
  tensors_[tensor].dirty = dirty;
  tensors_[tensor].suspect = suspect;
  list(tensor);
}

void Memory::set_checking(TensorIndex tensor, bool checking) {
  tensors_[tensor].checking = checking;
  list(tensor);
}

}  // namespace tencache::policy
