#include "policy/step.hpp"

#include <algorithm>

namespace tencache::policy {

Step::Step(const Trace& trace) {
  for (const TraceTensor& tensor : trace.tensors) {
    size_.push_back(static_cast<std::int64_t>(tensor.size.count()));
    persistent_.push_back(tensor.persistent ? 1 : 0);
  }
  start_.push_back(0.0);
  Nanoseconds enqueued{};
  for (const TraceKernel& kernel : trace.kernels) {
    seconds_.push_back(static_cast<double>(kernel.duration.count()) * 1e-9);
    start_.push_back(start_.back() + seconds_.back());
    const bool later = kernel.enqueued_at > enqueued;
    host_gap_.push_back(later ? static_cast<double>((kernel.enqueued_at - enqueued).count()) * 1e-9 : 0.0);
    enqueued = std::max(enqueued, kernel.enqueued_at);
  }
  add_uses(trace);
  link_uses();
  count_bytes();
}

void Step::add_uses(const Trace& trace) {
  constexpr KernelIndex kNone = ~KernelIndex{0};
  std::vector<KernelIndex> seen(size_.size(), kNone);
  for (KernelIndex kernel = 0; kernel < trace.kernels.size(); ++kernel) {
    begin_.push_back(positions());
    const auto add = [&](TensorIndex tensor, bool writes) {
      if (size_[tensor] == 0 || seen[tensor] == kernel) return;
      seen[tensor] = kernel;
      uses_.push_back({kernel, tensor, kNoPosition, kNoPosition, writes, false, false});
    };
    for (const TensorIndex tensor : trace.kernels[kernel].writes) add(tensor, true);
    for (const TensorIndex tensor : trace.kernels[kernel].reads) add(tensor, false);
  }
  begin_.push_back(positions());
}

void Step::link_uses() {
  first_use_.assign(size_.size(), kNoPosition);
  std::vector<Position> last(size_.size(), kNoPosition);
  for (Position position = 0; position < positions(); ++position) {
    const TensorIndex tensor = uses_[position].tensor;
    if (first_use_[tensor] == kNoPosition) {
      first_use_[tensor] = position;
      uses_[position].birth = persistent_[tensor] == 0;
    } else {
      uses_[last[tensor]].next = position;
      uses_[position].previous = last[tensor];
    }
    last[tensor] = position;
  }
  for (TensorIndex tensor = 0; tensor < size_.size(); ++tensor) {
    if (last[tensor] == kNoPosition) continue;
    uses_[last[tensor]].next = first_use_[tensor];
    uses_[first_use_[tensor]].previous = last[tensor];
    uses_[last[tensor]].death = persistent_[tensor] == 0;
  }
}

void Step::count_bytes() {
  births_.assign(kernels(), 0);
  transient_live_.assign(kernels(), 0);
  touched_.assign(kernels(), 0);
  std::int64_t live = 0;
  for (KernelIndex kernel = 0; kernel < kernels(); ++kernel) {
    std::int64_t dying = 0;
    for (const Use& use : uses(kernel)) {
      touched_[kernel] += size_[use.tensor];
      if (use.birth) births_[kernel] += size_[use.tensor];
      if (use.death) dying += size_[use.tensor];
    }
    live += births_[kernel];
    transient_live_[kernel] = live;
    live -= dying;
  }
  for (TensorIndex tensor = 0; tensor < size_.size(); ++tensor) {
    if (persistent_[tensor] != 0 && first_use_[tensor] != kNoPosition) persistent_bytes_ += size_[tensor];
  }
  peak_ = persistent_bytes_;
  if (!transient_live_.empty()) peak_ += *std::max_element(transient_live_.begin(), transient_live_.end());
}

}  // namespace tencache::policy
