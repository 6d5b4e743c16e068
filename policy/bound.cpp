#include "policy/bound.hpp"

#include <algorithm>

#include "policy/memory.hpp"
#include "policy/price_bound.hpp"
#include "policy/window_bound.hpp"

namespace tencache::policy {
namespace {

constexpr double kCloseEnough = 0.9995;  // to what was achieved: the search would tell nothing
constexpr PriceSlot kSlotsToClimb = 256;
constexpr int kMostSteps = 8;  // until the fetched bytes of a step repeat

void make_room(Memory& memory, std::int64_t bytes, Position after) {
  while (memory.free() < bytes) {
    const TensorIndex victim = memory.farthest_droppable(after);
    if (victim == kNoTensor) return;
    memory.drop(victim, std::min(memory[victim].resident, bytes - memory.free()));
  }
}

std::int64_t fetch_step(const Step& step, Memory& memory) {
  std::int64_t fetched = 0;
  for (KernelIndex kernel = 0; kernel < step.kernels(); ++kernel) {
    const Position after = memory.front() + (step.end(kernel) - step.begin(kernel));
    for (const Use& use : step.uses(kernel)) {
      const std::int64_t missing = use.birth ? 0 : memory[use.tensor].size - memory[use.tensor].resident;
      if (missing == 0) continue;
      make_room(memory, missing, after);
      memory.begin_fetch(use.tensor, missing);
      memory.finish_fetch(use.tensor, missing);
      fetched += missing;
    }
    make_room(memory, step.births(kernel), after);
    memory.admit(kernel);
    memory.complete(kernel);
    for (const Use& use : step.uses(kernel)) memory.set_clean_from(use.tensor, 0, 0);
  }
  return fetched;
}

}  // namespace

std::int64_t minimum_fetch_bytes(const Step& step, std::int64_t capacity) {
  Memory memory(step, capacity, true);
  std::int64_t fetched = fetch_step(step, memory);
  for (int i = 0; i < kMostSteps; ++i) {
    const std::int64_t again = fetch_step(step, memory);
    if (again == fetched) break;
    fetched = again;
  }
  return fetched;
}

Bound lower_bound(const Step& step, const Machine& machine) {
  const auto capacity = static_cast<std::int64_t>(machine.hbm.count());
  Bound bound;
  bound.ideal = bound.window = step.ideal();
  bound.minimum_bytes = static_cast<double>(minimum_fetch_bytes(step, capacity));
  bound.traffic = bound.minimum_bytes / machine.link.in_alone;
  if (step.peak() > capacity) {
    bound.window += WindowBound(step, capacity, machine.link.in_alone, machine.link.out_alone).stall();
  }
  const auto both_tiers = capacity + static_cast<std::int64_t>(machine.host.count());
  if (machine.host < Machine::kUnlimited && step.peak() > both_tiers) {
    const double stall = WindowBound(step, both_tiers, machine.disk_read, machine.disk_write).stall();
    bound.window = std::max(bound.window, step.ideal() + stall);
  }
  bound.seconds = std::max({bound.ideal, bound.traffic, bound.window});
  return bound;
}

Bound lower_bound(const Step& step, const Machine& machine, double achieved, const PriceSearch& search,
                  PriceSlot slots) {
  Bound bound = lower_bound(step, machine);
  const auto capacity = static_cast<std::int64_t>(machine.hbm.count());
  if (step.peak() <= capacity || bound.seconds >= achieved * kCloseEnough) return bound;
  const PriceSlot most = search ? slots : kSlotsToClimb;
  PriceBound prices(price_problem(step, capacity, machine.link, most), bound.ideal);
  const auto found = search ? search(prices.problem()) : std::nullopt;
  bound.price = bound.ideal + (found ? prices.proven(*found) : prices.stall(achieved - bound.ideal));
  bound.seconds = std::max(bound.seconds, bound.price);
  return bound;
}

}  // namespace tencache::policy
