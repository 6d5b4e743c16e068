// The link's rates and the cost of changing a mapping, as they were measured lately. Called by the learning
// policy. Thread rule: one caller at a time. Failure rule: none; what was never seen is taken from what was.
#pragma once

#include <algorithm>

#include "policy/machine.hpp"
#include "policy/policy.hpp"

namespace tencache::policy {

class LinkMeter {
 public:
  void copied(const Transfer& transfer) {
    if (transfer.took == Nanoseconds() || transfer.beside == Transfer::Beside::kMixed) return;
    const bool in = transfer.direction == Transfer::Direction::kIn;
    const bool alone = transfer.beside == Transfer::Beside::kNothing;
    double& rate =
        in ? (alone ? rates_.in_alone : rates_.in_duplex) : (alone ? rates_.out_alone : rates_.out_duplex);
    const double seconds = static_cast<double>(transfer.took.count()) * 1e-9;
    follow(rate, static_cast<double>(transfer.size.count()) / seconds);
  }
  void remapped(std::uint32_t extents, Nanoseconds took) {
    if (extents > 0) follow(remap_nanoseconds_, static_cast<double>((took / extents).count()));
  }

  // False as long as nothing is known of a direction.
  [[nodiscard]] bool known() const {
    return std::max(rates_.in_alone, rates_.in_duplex) > 0 &&
           std::max(rates_.out_alone, rates_.out_duplex) > 0;
  }
  [[nodiscard]] LinkRates rates() const {
    LinkRates rates = rates_;
    complete(rates.in_alone, rates.in_duplex);
    complete(rates.out_alone, rates.out_duplex);
    return rates;
  }
  [[nodiscard]] Nanoseconds remap() const {
    return Nanoseconds(static_cast<std::uint64_t>(remap_nanoseconds_));
  }

 private:
  static constexpr double kWeight = 1.0 / 32;  // of the latest

  static void follow(double& value, double seen) { value += (seen - value) * (value == 0 ? 1 : kWeight); }
  static void complete(double& alone, double& duplex) {
    if (alone == 0) alone = duplex;
    if (duplex == 0) duplex = alone;
    duplex = std::min(duplex, alone);
  }

  LinkRates rates_;
  double remap_nanoseconds_ = 0;
};

}  // namespace tencache::policy
