#include "policy/price_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tencache::policy {
namespace {

constexpr auto kNever = PriceProblem::kNever;
constexpr std::uint32_t kNone = ~std::uint32_t{0};
// Of the search for prices. None of these can make the bound wrong.
constexpr int kRounds = 1000;
constexpr int kPatience = 40;  // rounds without gain
constexpr double kGained = 1e-5, kShorter = 0.6, kShortest = 1e-4;
constexpr double kMean = 0.95;
constexpr double kRoomScale = 0.03;

}  // namespace

PriceBound::PriceBound(PriceProblem problem, double ideal)
    : problem_(std::move(problem)), slots_(problem_.slots()), ideal_(ideal) {
  least_.resize(static_cast<std::size_t>(2 * slots_) + 1);
  back_.resize(least_.size());
}

void PriceBound::spread(const Prices& prices) {
  const std::size_t twice = 2 * static_cast<std::size_t>(slots_);
  in_.assign(twice, 0);
  out_.assign(twice, 0);
  held_.assign(twice + 1, 0);
  for (std::size_t b = 0; b < twice; ++b) {
    const std::size_t slot = b % static_cast<std::size_t>(slots_);
    for (std::size_t side = 0; side < problem_.sides.size(); ++side) {
      in_[b] += problem_.sides[side].in * prices.side[side][slot];
      out_[b] += problem_.sides[side].out * prices.side[side][slot];
    }
    held_[b + 1] = held_[b] + prices.room[slot];
  }
}

// For a gap: the least cost of coming back when out at least until each of its checkpoints.
void PriceBound::suffix(const PriceProblem::Gap& gap) {
  double least = std::numeric_limits<double>::infinity();
  PriceSlot back = gap.last;
  for (PriceSlot j = gap.last; j >= gap.first; --j) {
    const auto at = static_cast<std::size_t>(j);
    const double cost = in_[at] + held_[static_cast<std::size_t>(gap.last) + 1] - held_[at + 1];
    if (cost < least) least = cost, back = j;
    least_[at] = least;
    back_[at] = back;
  }
}

PriceBound::Choice PriceBound::choose(const PriceProblem::Epoch& epoch) {
  double stays = 0, later = 0;
  for (std::uint32_t g = 0; g < epoch.gaps.size(); ++g) {
    const PriceProblem::Gap& gap = epoch.gaps[g];
    suffix(gap);
    const double stay =
        held_[static_cast<std::size_t>(gap.last) + 1] - held_[static_cast<std::size_t>(gap.first)];
    stays += stay;
    later += std::min(stay, least_[static_cast<std::size_t>(gap.first)]);
  }
  if (epoch.written == kNever) return {later, 0, epoch.gaps.front().first, kNever};
  Choice best{stays, kNone, 0, 0};
  double before = 0;
  double copy = std::numeric_limits<double>::infinity();
  PriceSlot copied = epoch.written, looked = epoch.written;
  for (std::uint32_t g = 0; g < epoch.gaps.size(); ++g) {
    const PriceProblem::Gap& gap = epoch.gaps[g];
    const auto first = static_cast<std::size_t>(gap.first);
    const double stay = held_[static_cast<std::size_t>(gap.last) + 1] - held_[first];
    later -= std::min(stay, least_[first]);
    for (PriceSlot i = gap.first; i <= gap.last; ++i) {
      for (; looked < i; ++looked) {
        if (out_[static_cast<std::size_t>(looked)] < copy)
          copy = out_[static_cast<std::size_t>(looked)], copied = looked;
      }
      const auto at = static_cast<std::size_t>(i);
      const double cost = before + held_[at] - held_[first] + copy + least_[at] + later;
      if (cost < best.cost) best = {cost, g, i, copied};
    }
    before += stay;
  }
  return best;
}

void PriceBound::hold(PriceSlot first, PriceSlot last, double bytes, Prices& slope) const {
  for (PriceSlot b = first; b <= last; ++b) slope.room[static_cast<std::size_t>(b % slots_)] += bytes;
}

void PriceBound::charge(const PriceProblem::Epoch& epoch, const Choice& choice, Prices& slope) {
  const auto move = [&](PriceSlot slot, bool in) {
    for (std::size_t side = 0; side < problem_.sides.size(); ++side) {
      slope.side[side][static_cast<std::size_t>(slot % slots_)] +=
          epoch.bytes * (in ? problem_.sides[side].in : problem_.sides[side].out);
    }
  };
  if (choice.gap != kNone && choice.copied != kNever) move(choice.copied, false);
  for (std::uint32_t g = 0; g < epoch.gaps.size(); ++g) {
    const PriceProblem::Gap& gap = epoch.gaps[g];
    if (choice.gap == kNone || g < choice.gap) {
      hold(gap.first, gap.last, epoch.bytes, slope);
      continue;
    }
    suffix(gap);
    const PriceSlot out = g == choice.gap && choice.copied != kNever ? choice.out : gap.first;
    const double stay =
        held_[static_cast<std::size_t>(gap.last) + 1] - held_[static_cast<std::size_t>(gap.first)];
    const bool stays =
        (g != choice.gap || choice.copied == kNever) && stay <= least_[static_cast<std::size_t>(gap.first)];
    if (stays) {
      hold(gap.first, gap.last, epoch.bytes, slope);
      continue;
    }
    const PriceSlot back = back_[static_cast<std::size_t>(out)];
    hold(gap.first, out - 1, epoch.bytes, slope);
    hold(back + 1, gap.last, epoch.bytes, slope);
    move(back, true);
  }
}

// The bound that these prices prove, and in which direction better ones lie.
double PriceBound::value(const Prices& prices, Prices& slope) {
  spread(prices);
  double sum = 0;
  for (PriceSlot b = 0; b < slots_; ++b) {
    const auto at = static_cast<std::size_t>(b);
    slope.room[at] = -problem_.room[at];
    sum -= prices.room[at] * problem_.room[at];
    for (std::size_t side = 0; side < problem_.sides.size(); ++side) {
      slope.side[side][at] = -problem_.seconds[at];
      sum -= prices.side[side][at] * problem_.seconds[at];
    }
  }
  for (const PriceProblem::Epoch& epoch : problem_.epochs) {
    const Choice choice = choose(epoch);
    sum += epoch.bytes * choice.cost;
    charge(epoch, choice, slope);
  }
  return sum;
}

void PriceBound::project(Prices& prices) const {
  for (double& price : prices.room) price = std::max(0.0, price);
  for (std::size_t b = 0; b < static_cast<std::size_t>(slots_); ++b) {
    double sum = 0;
    for (auto& side : prices.side) sum += side[b] = std::max(0.0, side[b]);
    if (sum > 1)
      for (auto& side : prices.side) side[b] /= sum;
  }
}

double PriceBound::proven(const Prices& prices) {
  Prices allowed = prices;
  project(allowed);
  Prices slope = allowed;
  return std::max(0.0, value(allowed, slope));
}

// Climbs towards what is known to be reached, along a mean of the latest slopes; begins anew from the best
// prices, with shorter steps, when it no longer gets higher.
double PriceBound::stall(double target) {
  const auto slots = static_cast<std::size_t>(slots_);
  Prices prices{std::vector<double>(slots, 0), {problem_.sides.size(), std::vector<double>(slots, 0)}};
  Prices slope = prices, way = prices;
  const double stalled = target / (target + ideal_) / static_cast<double>(problem_.sides.size());
  for (auto& side : prices.side) side.assign(slots, stalled);
  Prices best_prices = prices;
  double best = -std::numeric_limits<double>::infinity(), length = 1;
  for (int round = 0, lost = 0; round < kRounds && best < target && length > kShortest; ++round) {
    const double now = value(prices, slope);
    if (now > best) {
      lost = now > best + kGained * target ? 0 : lost;
      best = now;
      best_prices = prices;
    } else if (++lost > kPatience) {
      lost = 0;
      length *= kShorter;
      prices = best_prices;
    }
    climb(prices, slope, way, length * (target - now));
    project(prices);
  }
  return std::max(0.0, best);
}

void PriceBound::climb(Prices& prices, const Prices& slope, Prices& way, double gain) const {
  const double room =
      kRoomScale * (problem_.sides.front().in + problem_.sides.back().out);  // what its prices are like
  double square = 0;
  const auto turn = [&](const std::vector<double>& at, const std::vector<double>& up, std::vector<double>& to,
                        double scale) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      const double towards = at[i] <= 0 && up[i] < 0 ? 0 : scale * up[i];
      to[i] = kMean * to[i] + (1 - kMean) * towards;
      square += to[i] * to[i];
    }
  };
  turn(prices.room, slope.room, way.room, room);
  for (std::size_t i = 0; i < problem_.sides.size(); ++i) turn(prices.side[i], slope.side[i], way.side[i], 1);
  if (square <= 0) return;
  for (std::size_t b = 0; b < prices.room.size(); ++b) {
    prices.room[b] += gain / square * room * way.room[b];
    for (std::size_t i = 0; i < problem_.sides.size(); ++i)
      prices.side[i][b] += gain / square * way.side[i][b];
  }
}

}  // namespace tencache::policy
