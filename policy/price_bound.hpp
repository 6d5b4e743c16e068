// A bound on the step time from prices: so many seconds for holding a byte at a kernel, so many for a byte
// over a link during a part of the step. Whatever the prices, what every tensor would pay at the least, less
// what the HBM and the links' time are worth, is stall that no schedule avoids (weak duality of the step as a
// linear programme). The search for good prices can make the bound weaker, never wrong. Unlike windows it
// sees both directions of a link that share its rate. Called by the bound. Thread rule: one caller. Failure
// rule: none.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/price_problem.hpp"

namespace tencache::policy {

class PriceBound {
 public:
  struct Prices {
    std::vector<double> room;               // per checkpoint
    std::vector<std::vector<double>> side;  // per side and slot, together at most 1
  };
  // `ideal`: the step's time without stall.
  PriceBound(PriceProblem problem, double ideal);
  // Stall in seconds; `target` is what some schedule is known to take, which no bound exceeds: the search
  // ends there.
  [[nodiscard]] double stall(double target);
  // What these prices, found elsewhere, prove. Any will do; ones not allowed are made so.
  [[nodiscard]] double proven(const Prices& prices);
  [[nodiscard]] const PriceProblem& problem() const { return problem_; }

 private:
  struct Choice {  // of one epoch
    double cost;
    std::uint32_t gap;  // first one out, kNone: it stays
    PriceSlot out;      // from this checkpoint on
    PriceSlot copied;   // in this slot
  };

  double value(const Prices& prices, Prices& slope);
  void spread(const Prices& prices);
  [[nodiscard]] Choice choose(const PriceProblem::Epoch& epoch);
  void charge(const PriceProblem::Epoch& epoch, const Choice& choice, Prices& slope);
  void hold(PriceSlot first, PriceSlot last, double bytes, Prices& slope) const;
  void suffix(const PriceProblem::Gap& gap);
  void climb(Prices& prices, const Prices& slope, Prices& way, double gain) const;
  void project(Prices& prices) const;

  const PriceProblem problem_;
  const PriceSlot slots_;
  const double ideal_;
  // Of the prices looked at, over two steps: what a byte in and a byte out costs, and what holding one costs
  // up to a checkpoint.
  std::vector<double> in_, out_, held_;
  std::vector<double> least_;    // scratch: the least cost of coming back, per checkpoint out last or later
  std::vector<PriceSlot> back_;  // and the slot of it
};

}  // namespace tencache::policy
