#include "policy/memory.hpp"

#include <utility>

namespace tencache::policy {

Memory::Memory(const Step& step, std::int64_t capacity, bool writes_known)
    : step_(step),
      tensors_(step.tensors()),
      missing_(step.positions()),
      droppable_(step.positions()),
      cleanable_(step.positions()),
      suspect_(step.positions()),
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

void Memory::list(TensorIndex tensor) {
  const TensorState& state = tensors_[tensor];
  if (!state.exists || state.next == kNoPosition) return;
  if (state.resident + state.incoming < state.size) missing_.insert(state.next);
  if (state.pins == 0 && state.incoming == 0 && state.resident > state.suspect) droppable_.insert(state.next);
  if (cleanable(tensor)) cleanable_.insert(state.next);
  if (suspect(tensor)) suspect_.insert(state.next);
}

void Memory::unlist(TensorIndex tensor) {
  const Position next = tensors_[tensor].next;
  if (next == kNoPosition) return;
  missing_.erase(next);
  droppable_.erase(next);
  cleanable_.erase(next);
  suspect_.erase(next);
}

void Memory::relist(TensorIndex tensor) {
  unlist(tensor);
  list(tensor);
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
  const Position later = missing_.next(front_);
  return tensor_at(later != PositionSet::kNone ? later : missing_.next(0));
}

TensorIndex Memory::farthest(const PositionSet& set, Position after) const {
  const Position wrapped = set.previous(front_);
  const Position found = wrapped != PositionSet::kNone ? wrapped : set.previous(step_.positions());
  if (found == PositionSet::kNone || ahead(found) < after) return kNoTensor;
  return tensor_at(found);
}

TensorIndex Memory::farthest_droppable(Position after) const { return farthest(droppable_, after); }
TensorIndex Memory::farthest_cleanable(Position after) const { return farthest(cleanable_, after); }
TensorIndex Memory::farthest_suspect(Position after) const { return farthest(suspect_, after); }

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
    unlist(use.tensor);
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
  relist(tensor);
}

void Memory::finish_fetch(TensorIndex tensor, std::int64_t bytes) {
  tensors_[tensor].incoming -= bytes;
  tensors_[tensor].resident += bytes;
  add_resident(tensors_[tensor].next, bytes);
  relist(tensor);
}

void Memory::drop(TensorIndex tensor, std::int64_t bytes) {
  tensors_[tensor].resident -= bytes;
  free_ += bytes;
  add_resident(tensors_[tensor].next, -bytes);
  relist(tensor);
}

void Memory::set_clean_from(TensorIndex tensor, std::int64_t dirty, std::int64_t suspect) {
  tensors_[tensor].dirty = dirty;
  tensors_[tensor].suspect = suspect;
  relist(tensor);
}

void Memory::set_checking(TensorIndex tensor, bool checking) {
  tensors_[tensor].checking = checking;
  relist(tensor);
}

}  // namespace tencache::policy
