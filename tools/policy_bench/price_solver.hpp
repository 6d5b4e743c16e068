// Has the prices of a bound found by a program: COMMAND PROBLEM PRICES, two files of plain numbers
// (solve_prices.py says which). Used by policy-bench. Thread rule: one caller. Failure rule: a program that
// fails gives none, with a line on standard error; the bound climbs towards prices itself then.
#pragma once

#include <optional>
#include <string>

#include "policy/price_bound.hpp"

namespace tencache::bench {

class PriceSolver {
 public:
  explicit PriceSolver(std::string command) : command_(std::move(command)) {}
  std::optional<policy::PriceBound::Prices> operator()(const policy::PriceProblem& problem) const;

 private:
  std::string command_;
};

}  // namespace tencache::bench
