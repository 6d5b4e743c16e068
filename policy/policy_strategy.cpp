#include "policy/policy_strategy.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "policy/machine.hpp"

namespace tencache::policy {
namespace {

Bytes bytes(std::int64_t count) { return Bytes(static_cast<std::uint64_t>(count)); }

}  // namespace

void PolicyStrategy::begin(const Memory& memory, std::int64_t block) {
  Strategy::begin(memory, block);
  const Step& step = memory.step();
  for (TensorIndex tensor = 0; tensor < step.tensors(); ++tensor) {
    first_.push_back(static_cast<ExtentIndex>(tensor_of_.size()));
    const std::int64_t blocks = (step.size(tensor) + block - 1) / block;
    tensor_of_.insert(tensor_of_.end(), static_cast<std::size_t>(blocks), tensor);
  }
  first_.push_back(static_cast<ExtentIndex>(tensor_of_.size()));
  extents_.resize(tensor_of_.size());
  described_.assign(step.tensors(), {});
  for (TensorIndex tensor = 0; tensor < step.tensors(); ++tensor) {
    if (step.persistent(tensor)) create(tensor);
  }
  measure();
  for (KernelIndex kernel = 0; kernel < step.kernels(); ++kernel) signatures_.push_back(signature(kernel));
}

// What the process measures of its copies is known here.
void PolicyStrategy::measure() {
  constexpr Bytes kSample = 64_MiB;
  const auto tell = [&](Transfer::Direction direction, Transfer::Beside beside, double rate) {
    const double seconds = static_cast<double>(kSample.count()) / rate;
    policy_->copied(
        {direction, beside, kSample, Nanoseconds(static_cast<std::uint64_t>(std::max(1.0, seconds * 1e9)))});
  };
  tell(Transfer::Direction::kIn, Transfer::Beside::kNothing, machine_.link.in_alone);
  tell(Transfer::Direction::kIn, Transfer::Beside::kOther, machine_.link.in_duplex);
  tell(Transfer::Direction::kOut, Transfer::Beside::kNothing, machine_.link.out_alone);
  tell(Transfer::Direction::kOut, Transfer::Beside::kOther, machine_.link.out_duplex);
  policy_->remapped(1, machine_.map_per_block);
}

// Kernels of one duration that write and read as much are taken to be the same function of the same shape.
std::uint64_t PolicyStrategy::signature(KernelIndex kernel) const {
  const Step& step = memory_->step();
  std::uint64_t hash = std::bit_cast<std::uint64_t>(step.seconds(kernel));
  for (const Use& use : step.uses(kernel)) {
    hash = hash * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(step.size(use.tensor)) * 2 + use.writes;
  }
  return hash;
}

void PolicyStrategy::create(TensorIndex tensor) {
  const std::int64_t size = memory_->step().size(tensor);
  for (ExtentIndex extent = first_[tensor]; extent < first_[tensor + 1]; ++extent) {
    const std::int64_t offset = block_ * (extent - first_[tensor]);
    policy_->extent_created(
        {extent, tensor, creations_, bytes(size), bytes(offset), bytes(std::min(block_, size - offset))});
  }
  ++creations_;
}

void PolicyStrategy::admitted(KernelIndex kernel) {
  touched_.clear();
  for (const Use& use : memory_->step().uses(kernel)) {
    if (use.birth) create(use.tensor);
    for (ExtentIndex e = first_[use.tensor]; e < first_[use.tensor + 1]; ++e) touched_.push_back(e);
  }
  policy_->access({++accesses_, 0, Nanoseconds(static_cast<std::uint64_t>(now_ * 1e9)), signatures_[kernel],
                   false, touched_, touched_});
  const Residency now{Extents(extents_), {}, bytes(memory_->capacity()), Machine::kUnlimited, {}};
  if (auto work = policy_->work(now)) {
    work->run(false);
    policy_->worked(std::move(work));
  }
}

void PolicyStrategy::completed(KernelIndex kernel) {
  const auto time = [](double seconds) { return Nanoseconds(static_cast<std::uint64_t>(seconds * 1e9)); };
  policy_->completed(0, ++ended_, {}, time(memory_->step().seconds(kernel)));
  for (const Use& use : memory_->step().uses(kernel)) {
    if (!use.death) continue;
    for (ExtentIndex e = first_[use.tensor]; e < first_[use.tensor + 1]; ++e) policy_->extent_destroyed(e);
  }
}

void PolicyStrategy::describe(TensorIndex tensor, bool held) {
  const TensorState& state = (*memory_)[tensor];
  for (ExtentIndex extent = first_[tensor]; extent < first_[tensor + 1]; ++extent) {
    const std::int64_t offset = block_ * (extent - first_[tensor]);
    const bool here = offset < state.resident;
    extents_[extent] = {here ? Tier::kHbm : Tier::kHost,
                        state.exists,
                        !here || offset >= state.suspect,
                        state.incoming > 0 && offset >= state.resident,
                        held,
                        bytes(std::min(block_, state.size - offset))};
  }
}

// Held: what a kernel under way touches, and what is needed before `after`.
Residency PolicyStrategy::residency(const Moment& moment, Position after) {
  now_ = moment.now;
  for (TensorIndex tensor = 0; tensor < memory_->step().tensors(); ++tensor) {
    const TensorState& state = (*memory_)[tensor];
    const bool needed = state.next == kNoPosition || memory_->ahead(state.next) < after;
    const Described now{state.resident, state.incoming, state.suspect, state.exists,
                        state.pins > 0 || state.incoming > 0 || needed};
    if (now == described_[tensor]) continue;
    described_[tensor] = now;
    describe(tensor, now.held);
  }
  return {Extents(extents_), bytes(std::max<std::int64_t>(0, memory_->free())), bytes(memory_->capacity()),
          Machine::kUnlimited, Nanoseconds(static_cast<std::uint64_t>(moment.now * 1e9))};
}

TensorIndex PolicyStrategy::next_fetch(const Moment& moment) {
  const TensorIndex tensor = memory_->nearest_missing();
  if (tensor == kNoTensor) return kNoTensor;
  const bool waited_for = memory_->step().use((*memory_)[tensor].next).kernel == memory_->next_kernel();
  if (moment.waiting && waited_for) return tensor;
  if (moment.stalled) return kNoTensor;  // what waits for room has it first
  const auto extent = policy_->next_fetch(residency(moment, memory_->front()));
  return extent ? tensor_of(*extent) : kNoTensor;
}

TensorIndex PolicyStrategy::next_clean(const Moment& moment) {
  if (leaving_ != kNoTensor) {
    const TensorIndex leaving = std::exchange(leaving_, kNoTensor);
    return memory_->cleanable(leaving) ? leaving : kNoTensor;
  }
  const auto extent = policy_->next_clean(residency(moment, memory_->front()));
  return extent ? tensor_of(*extent) : kNoTensor;
}

TensorIndex PolicyStrategy::next_check(const Moment& /*moment*/) {
  return leaving_ != kNoTensor && memory_->suspect(leaving_) ? leaving_ : kNoTensor;
}

TensorIndex PolicyStrategy::victim(const Moment& moment, Position after) {
  const auto extent = policy_->victim(residency(moment, after));
  if (!extent) return kNoTensor;
  const TensorIndex tensor = tensor_of(*extent);
  if (memory_->droppable(tensor) > 0) return tensor;
  leaving_ = tensor;
  return kNoTensor;
}

}  // namespace tencache::policy
