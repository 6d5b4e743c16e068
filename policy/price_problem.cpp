#include "policy/price_problem.hpp"

#include <algorithm>

namespace tencache::policy {
namespace {

constexpr double kGiga = 1e9;

class ProblemBuilder {
 public:
  ProblemBuilder(const Step& step, std::int64_t capacity, const LinkRates& link, PriceSlot most);
  PriceProblem build();

 private:
  void choose_checkpoints();
  void add_epochs(TensorIndex tensor);
  void add_epoch(TensorIndex tensor, const std::vector<Position>& uses, std::size_t first, std::size_t last);
  [[nodiscard]] PriceSlot slot_of(std::int64_t kernel) const;
  [[nodiscard]] std::int64_t checkpoint(PriceSlot slot) const;

  const Step& step_;
  std::int64_t n_;
  double capacity_;
  PriceSlot most_;
  std::vector<std::int64_t> checkpoints_;
  PriceSlot slots_ = 0;
  std::map<std::pair<PriceSlot, std::vector<PriceProblem::Gap>>, double> bytes_;
  PriceProblem problem_;
};

ProblemBuilder::ProblemBuilder(const Step& step, std::int64_t capacity, const LinkRates& link, PriceSlot most)
    : step_(step), n_(step.kernels()), capacity_(static_cast<double>(capacity) / kGiga), most_(most) {
  const double in = kGiga / link.in_alone, out = kGiga / link.out_alone;
  if (link.better_in_turns()) {
    problem_.sides = {{in, out}};
  } else {
    problem_.sides = {{in, (1 - link.in_duplex / link.in_alone) * kGiga / link.out_duplex},
                      {(1 - link.out_duplex / link.out_alone) * kGiga / link.in_duplex, out}};
  }
}

PriceProblem ProblemBuilder::build() {
  choose_checkpoints();
  for (TensorIndex tensor = 0; tensor < step_.tensors(); ++tensor) add_epochs(tensor);
  for (const auto& [life, bytes] : bytes_) problem_.epochs.push_back({bytes, life.first, life.second});
  return problem_;
}

// Of parts alike in time, bytes and number of kernels the kernel that touches most; the first kernel, so that
// what is written before all others has a slot.
void ProblemBuilder::choose_checkpoints() {
  double touched = 0;
  for (KernelIndex k = 0; k < step_.kernels(); ++k) touched += static_cast<double>(step_.touched(k));
  double passed = 0;
  std::int64_t part = -1;
  for (KernelIndex k = 0; k < step_.kernels(); ++k) {
    const auto at = static_cast<std::int64_t>(passed / 3 * most_);
    if (at != part) {
      part = at;
      checkpoints_.push_back(k);
    } else if (checkpoints_.size() > 1 &&
               step_.touched(k) > step_.touched(static_cast<KernelIndex>(checkpoints_.back()))) {
      checkpoints_.back() = k;
    }
    passed += 1 / static_cast<double>(n_) +
              (touched > 0 ? static_cast<double>(step_.touched(k)) / touched : 0) +
              (step_.ideal() > 0 ? step_.seconds(k) / step_.ideal() : 0);
  }
  slots_ = static_cast<PriceSlot>(checkpoints_.size());
  for (PriceSlot b = 0; b < slots_; ++b) {
    const auto kernel = static_cast<KernelIndex>(checkpoint(b));
    const auto next = static_cast<KernelIndex>(checkpoint(b + 1) % n_);
    problem_.seconds.push_back(step_.start(next) - step_.start(kernel) +
                               (b + 1 == slots_ ? step_.ideal() : 0));
    problem_.room.push_back(capacity_ - static_cast<double>(step_.touched(kernel)) / kGiga);
  }
}

std::int64_t ProblemBuilder::checkpoint(PriceSlot slot) const {
  return checkpoints_[static_cast<std::size_t>(slot % slots_)] + slot / slots_ * n_;
}

// The last checkpoint at or before the kernel.
PriceSlot ProblemBuilder::slot_of(std::int64_t kernel) const {
  const auto above = std::upper_bound(checkpoints_.begin(), checkpoints_.end(), kernel % n_);
  return static_cast<PriceSlot>(above - checkpoints_.begin()) - 1 +
         static_cast<PriceSlot>(kernel / n_) * slots_;
}

// Parts the tensor's life into epochs; of a persistent one's the last reaches around the step's end.
void ProblemBuilder::add_epochs(TensorIndex tensor) {
  std::vector<Position> uses;
  std::vector<std::size_t> writes;
  const Position first = step_.first_use(tensor);
  if (first == kNoPosition) return;
  for (Position position = first;;) {
    if (step_.use(position).writes) writes.push_back(uses.size());
    uses.push_back(position);
    position = step_.use(position).next;
    if (position == first || position == kNoPosition) break;
  }
  const std::size_t count = uses.size();
  if (step_.persistent(tensor)) {
    for (std::size_t i = 0; i < count; ++i) uses.push_back(uses[i]);
    if (writes.empty()) return add_epoch(tensor, uses, 0, count);
    for (std::size_t i = 0; i < writes.size(); ++i) {
      add_epoch(tensor, uses, writes[i], i + 1 < writes.size() ? writes[i + 1] : writes[0] + count);
    }
    return;
  }
  if (writes.empty() || writes[0] > 0) add_epoch(tensor, uses, 0, writes.empty() ? count - 1 : writes[0]);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    add_epoch(tensor, uses, writes[i], i + 1 < writes.size() ? writes[i + 1] : count - 1);
  }
}

// The gaps between uses first to last of the list, which may have come around the step's end.
void ProblemBuilder::add_epoch(TensorIndex tensor, const std::vector<Position>& uses, std::size_t first,
                               std::size_t last) {
  PriceSlot written = PriceProblem::kNever;
  std::vector<PriceProblem::Gap> gaps;
  std::int64_t lap = 0;
  std::int64_t kernel = step_.use(uses[first]).kernel;
  if (step_.use(uses[first]).writes) written = slot_of(kernel);
  for (std::size_t i = first + 1; i <= last; ++i) {
    if (uses[i] <= uses[i - 1]) lap += n_;
    const std::int64_t next = step_.use(uses[i]).kernel + lap;
    const PriceSlot begin = slot_of(kernel) + 1;
    PriceSlot end = slot_of(next);
    if (checkpoint(end) == next) --end;
    if (begin <= end) gaps.push_back({begin, end});
    kernel = next;
  }
  if (!gaps.empty()) bytes_[{written, gaps}] += static_cast<double>(step_.size(tensor)) / kGiga;
}

}  // namespace

PriceProblem price_problem(const Step& step, std::int64_t capacity, const LinkRates& link, PriceSlot most) {
  return ProblemBuilder(step, capacity, link, most).build();
}

}  // namespace tencache::policy
