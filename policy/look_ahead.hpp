// How much the transients alive will grow between now and a coming kernel: room that a fetch ahead of time
// must leave. Used by the strategies that fetch ahead. Thread rule: constant once built. Failure rule: none.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "policy/step.hpp"

namespace tencache::policy {

class LookAhead {
 public:
  explicit LookAhead(const Step& step) : step_(step) {
    std::vector<std::int64_t> live;
    for (KernelIndex i = 0; i < 2 * step.kernels(); ++i)
      live.push_back(step.transient_live(i % step.kernels()));
    maximum_.push_back(std::move(live));
    for (std::size_t width = 1; 2 * width <= maximum_[0].size(); width *= 2) {
      const std::vector<std::int64_t>& half = maximum_.back();
      std::vector<std::int64_t> level(half.size() - width);
      for (std::size_t i = 0; i < level.size(); ++i) level[i] = std::max(half[i], half[i + width]);
      maximum_.push_back(std::move(level));
    }
  }

  // From the kernel before `next` (which runs now) to `kernel`, the next one of that index.
  [[nodiscard]] std::int64_t growth(KernelIndex next, KernelIndex kernel) const {
    const KernelIndex n = step_.kernels();
    const std::size_t last = kernel >= next ? kernel : kernel + n;
    const std::size_t level = std::bit_width((last - next + 1) | 1) - 1;  // `last` is no earlier
    const std::int64_t most =
        std::max(maximum_[level][next], maximum_[level][last + 1 - (std::size_t{1} << level)]);
    return std::max<std::int64_t>(0, most - step_.transient_live(next == 0 ? n - 1 : next - 1));
  }

  // Kernels and compute seconds from the start of `next` to the start of `kernel`.
  [[nodiscard]] KernelIndex distance(KernelIndex next, KernelIndex kernel) const {
    return kernel >= next ? kernel - next : kernel + step_.kernels() - next;
  }
  [[nodiscard]] double seconds(KernelIndex next, KernelIndex kernel) const {
    return step_.start(kernel) - step_.start(next) + (kernel >= next ? 0 : step_.ideal());
  }

 private:
  const Step& step_;
  std::vector<std::vector<std::int64_t>> maximum_;  // [level][i]: over 2^level kernels from i
};

}  // namespace tencache::policy
