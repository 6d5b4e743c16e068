// A step time that no policy can beat on a machine with this HBM and this link: the denominator of eta. It
// holds for every schedule that computes the same step, whatever it knows. Called by the tools and the bench.
// Thread rule: pure. Failure rule: none; with no reason to stall the bound is the sum of the kernels.
//
// For kernels p < m < q, not more than a step apart, at the start of kernel m:
//   V: bytes last written in [p, m) and used again: each is in HBM at m or was copied out after p ended
//   U: bytes existing before m that are used in [m, q): each is in HBM at m or is copied in before q-1 starts
// HBM holds `capacity` of them, those in both counting twice; what is left takes its time on the link, and
// what compute does not cover of that is stall. Windows whose stalls are disjoint add up; windows wrap the
// step's end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "policy/machine.hpp"
#include "policy/price_bound.hpp"
#include "policy/step.hpp"

namespace tencache::policy {

struct Bound {
  double seconds = 0;        // the largest of all
  double ideal = 0;          // the kernels alone
  double traffic = 0;        // the fewest bytes over the link's best rate
  double window = 0;         // ideal and the stalls of the best set of windows
  double price = 0;          // what prices prove; 0: not looked for
  double minimum_bytes = 0;  // the fewest bytes that must be fetched in a step
};

Bound lower_bound(const Step& step, const Machine& machine);

// The same, searched for longer where some schedule takes longer than the quick bound says.
// By `search`, where there is one that finds prices, else by climbing towards them.
using PriceSearch = std::function<std::optional<PriceBound::Prices>(const PriceProblem&)>;
// In more slots it is tighter and takes longer.
inline constexpr PriceSlot kFewSlots = 64, kManySlots = 192;
Bound lower_bound(const Step& step, const Machine& machine, double achieved, const PriceSearch& search = {},
                  PriceSlot slots = kFewSlots);

// Bytes fetched in a steady step with farthest-next-use replacement, links free: no policy fetches fewer.
std::int64_t minimum_fetch_bytes(const Step& step, std::int64_t capacity);

}  // namespace tencache::policy
