// A bound on the step time from prices: so many seconds for holding a byte at a kernel, so many for a byte
// over a link during a part of the step. Whatever the prices, what every tensor would pay at the least, less
// what the HBM and the links' time are worth, is stall that no schedule avoids (weak duality of the step as a
// linear programme). The search for good prices can make the bound weaker, never wrong. Unlike windows it
// sees both directions of a link that share its rate. Called by the bound. Thread rule: one caller. Failure
// rule: none.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/machine.hpp"
#include "policy/step.hpp"

namespace tencache::policy {

class PriceBound {
 public:
  PriceBound(const Step& step, std::int64_t capacity, const LinkRates& link);
  // Stall in seconds; `target` is what some schedule is known to take, which no bound exceeds: the search
  // ends there.
  [[nodiscard]] double stall(double target);

 private:
  // Slots are the times between checkpoints, kernels at which room is counted; both are counted on through
  // two steps, checkpoint b being the start of slot b.
  using Slot = std::int32_t;
  struct Gap {  // between two uses: the checkpoints at which the tensor may be out
    Slot first, last;
  };
  struct Epoch {  // from a write, which a copy out must follow, to the next one
    double bytes;
    Slot written;  // kNever: it has a copy below
    std::uint32_t begin, end;
  };
  // One side of the region of rates: `in` and `out` seconds a byte do not exceed the time.
  struct Side {
    double in, out;
  };
  struct Prices {
    std::vector<double> room;               // per checkpoint
    std::vector<std::vector<double>> side;  // per side and slot, together at most 1
  };
  struct Choice {  // of one epoch
    double cost;
    std::uint32_t gap;  // first one out, kNone: it stays
    Slot out;           // from this checkpoint on
    Slot copied;        // in this slot
  };

  void choose_checkpoints();
  void add_epochs(TensorIndex tensor);
  void add_epoch(TensorIndex tensor, const std::vector<Position>& uses, std::size_t first, std::size_t last);
  [[nodiscard]] Slot slot_of(std::int64_t kernel) const;
  [[nodiscard]] std::int64_t checkpoint(Slot slot) const;
  double value(const Prices& prices, Prices& slope);
  void spread(const Prices& prices);
  [[nodiscard]] Choice choose(const Epoch& epoch);
  void charge(const Epoch& epoch, const Choice& choice, Prices& slope);
  void hold(Slot first, Slot last, double bytes, Prices& slope) const;
  void suffix(const Gap& gap);
  void climb(Prices& prices, const Prices& slope, Prices& way, double gain) const;
  void project(Prices& prices) const;

  const Step& step_;
  std::int64_t n_;
  double capacity_;
  std::vector<Side> sides_;
  std::vector<std::int64_t> checkpoints_;
  Slot slots_ = 0;
  std::vector<double> seconds_;  // per slot
  std::vector<double> room_;     // per checkpoint: capacity less what its kernel touches
  std::vector<Epoch> epochs_;
  std::vector<Gap> gaps_;
  // Of the prices looked at, over two steps: what a byte in and a byte out costs, and what holding one costs
  // up to a checkpoint.
  std::vector<double> in_, out_, held_;
  std::vector<double> least_;  // scratch: the least cost of coming back, per checkpoint out last or later
  std::vector<Slot> back_;     // and the slot of it
};

}  // namespace tencache::policy
