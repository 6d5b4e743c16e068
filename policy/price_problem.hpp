// A step as a linear programme: slots of time between checkpoints, at which room is counted; and for every
// tensor the stretches in which it may be out, from a write, which a copy out must follow, to the next one.
// Tensors alike in all of that are one. Whoever finds prices for it (price_bound.hpp, or a solver) proves a
// bound. Called by PriceBound and by the bench. Thread rule: constant once built. Failure rule: none.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "policy/machine.hpp"
#include "policy/step.hpp"

namespace tencache::policy {

// Both are counted on through two steps, checkpoint b being the start of slot b.
using PriceSlot = std::int32_t;

struct PriceProblem {
  static constexpr PriceSlot kNever = -1;
  struct Gap {  // between two uses: the checkpoints at which the tensor may be out
    PriceSlot first, last;
    auto operator<=>(const Gap&) const = default;
  };
  struct Epoch {
    double bytes;       // gigabytes, so that prices are of one order with times
    PriceSlot written;  // kNever: it has a copy below
    std::vector<Gap> gaps;
  };
  // One side of the region of rates: `in` and `out` seconds a gigabyte do not exceed the time.
  struct Side {
    double in, out;
  };
  std::vector<double> seconds;  // per slot
  std::vector<double> room;     // per checkpoint: capacity less what its kernel touches
  std::vector<Side> sides;
  std::vector<Epoch> epochs;

  [[nodiscard]] PriceSlot slots() const { return static_cast<PriceSlot>(seconds.size()); }
};

// At most so many slots.
PriceProblem price_problem(const Step& step, std::int64_t capacity, const LinkRates& link, PriceSlot most);

}  // namespace tencache::policy
