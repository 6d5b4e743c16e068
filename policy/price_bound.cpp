#include "policy/price_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace tencache::policy {
namespace {

constexpr std::int32_t kSlots = 256;
constexpr std::int32_t kNever = -1;
constexpr std::uint32_t kNone = ~std::uint32_t{0};
// Of the search for prices. None of these can make the bound wrong.
constexpr int kRounds = 1000;
constexpr int kPatience = 40;  // rounds without gain
constexpr double kGained = 1e-5, kShorter = 0.6, kShortest = 1e-4;
constexpr double kMean = 0.95;
constexpr double kRoomScale = 0.03;
constexpr double kGiga = 1e9;  // prices are for a gigabyte, so that they are of one order with times

}  // namespace

PriceBound::PriceBound(const Step& step, std::int64_t capacity, const LinkRates& link)
    : step_(step), n_(step.kernels()), capacity_(static_cast<double>(capacity) / kGiga) {
  const double in = kGiga / link.in_alone, out = kGiga / link.out_alone;
  if (link.better_in_turns()) {
    sides_ = {{in, out}};
  } else {
    sides_ = {{in, (1 - link.in_duplex / link.in_alone) * kGiga / link.out_duplex},
              {(1 - link.out_duplex / link.out_alone) * kGiga / link.in_duplex, out}};
  }
  choose_checkpoints();
  for (TensorIndex tensor = 0; tensor < step.tensors(); ++tensor) add_epochs(tensor);
  least_.resize(static_cast<std::size_t>(2 * slots_) + 1);
  back_.resize(least_.size());
}

// Of parts alike in time, bytes and number of kernels the kernel that touches most.
void PriceBound::choose_checkpoints() {
  double touched = 0;
  for (KernelIndex k = 0; k < step_.kernels(); ++k) touched += static_cast<double>(step_.touched(k));
  double passed = 0;
  std::int64_t part = -1;
  for (KernelIndex k = 0; k < step_.kernels(); ++k) {
    const auto at = static_cast<std::int64_t>(passed / 3 * kSlots);
    if (at != part) {
      part = at;
      checkpoints_.push_back(k);
    } else if (step_.touched(k) > step_.touched(static_cast<KernelIndex>(checkpoints_.back()))) {
      checkpoints_.back() = k;
    }
    passed += 1 / static_cast<double>(n_) +
              (touched > 0 ? static_cast<double>(step_.touched(k)) / touched : 0) +
              (step_.ideal() > 0 ? step_.seconds(k) / step_.ideal() : 0);
  }
  slots_ = static_cast<Slot>(checkpoints_.size());
  for (Slot b = 0; b < slots_; ++b) {
    const auto kernel = static_cast<KernelIndex>(checkpoint(b));
    const auto next = static_cast<KernelIndex>(checkpoint(b + 1) % n_);
    seconds_.push_back(step_.start(next) - step_.start(kernel) + (b + 1 == slots_ ? step_.ideal() : 0));
    room_.push_back(capacity_ - static_cast<double>(step_.touched(kernel)) / kGiga);
  }
}

std::int64_t PriceBound::checkpoint(Slot slot) const {
  return checkpoints_[static_cast<std::size_t>(slot % slots_)] + slot / slots_ * n_;
}

// The last checkpoint at or before the kernel.
PriceBound::Slot PriceBound::slot_of(std::int64_t kernel) const {
  const auto above = std::upper_bound(checkpoints_.begin(), checkpoints_.end(), kernel % n_);
  return static_cast<Slot>(above - checkpoints_.begin()) - 1 + static_cast<Slot>(kernel / n_) * slots_;
}

// Parts the tensor's life into epochs; of a persistent one's the last reaches around the step's end.
void PriceBound::add_epochs(TensorIndex tensor) {
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
void PriceBound::add_epoch(TensorIndex tensor, const std::vector<Position>& uses, std::size_t first,
                           std::size_t last) {
  Epoch epoch{static_cast<double>(step_.size(tensor)) / kGiga, kNever,
              static_cast<std::uint32_t>(gaps_.size()), 0};
  std::int64_t lap = 0;
  std::int64_t kernel = step_.use(uses[first]).kernel;
  if (step_.use(uses[first]).writes) epoch.written = slot_of(kernel);
  for (std::size_t i = first + 1; i <= last; ++i) {
    if (uses[i] <= uses[i - 1]) lap += n_;
    const std::int64_t next = step_.use(uses[i]).kernel + lap;
    const Slot begin = slot_of(kernel) + 1;
    Slot end = slot_of(next);
    if (checkpoint(end) == next) --end;
    if (begin <= end) gaps_.push_back({begin, end});
    kernel = next;
  }
  epoch.end = static_cast<std::uint32_t>(gaps_.size());
  if (epoch.end > epoch.begin) epochs_.push_back(epoch);
}

void PriceBound::spread(const Prices& prices) {
  const std::size_t twice = 2 * static_cast<std::size_t>(slots_);
  in_.assign(twice, 0);
  out_.assign(twice, 0);
  held_.assign(twice + 1, 0);
  for (std::size_t b = 0; b < twice; ++b) {
    const std::size_t slot = b % static_cast<std::size_t>(slots_);
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      in_[b] += sides_[side].in * prices.side[side][slot];
      out_[b] += sides_[side].out * prices.side[side][slot];
    }
    held_[b + 1] = held_[b] + prices.room[slot];
  }
}

// For a gap: the least cost of coming back when out at least until each of its checkpoints.
void PriceBound::suffix(const Gap& gap) {
  double least = std::numeric_limits<double>::infinity();
  Slot back = gap.last;
  for (Slot j = gap.last; j >= gap.first; --j) {
    const auto at = static_cast<std::size_t>(j);
    const double cost = in_[at] + held_[static_cast<std::size_t>(gap.last) + 1] - held_[at + 1];
    if (cost < least) least = cost, back = j;
    least_[at] = least;
    back_[at] = back;
  }
}

PriceBound::Choice PriceBound::choose(const Epoch& epoch) {
  double stays = 0, later = 0;
  for (std::uint32_t g = epoch.begin; g < epoch.end; ++g) {
    const Gap& gap = gaps_[g];
    suffix(gap);
    const double stay =
        held_[static_cast<std::size_t>(gap.last) + 1] - held_[static_cast<std::size_t>(gap.first)];
    stays += stay;
    later += std::min(stay, least_[static_cast<std::size_t>(gap.first)]);
  }
  if (epoch.written == kNever) return {later, epoch.begin, gaps_[epoch.begin].first, kNever};
  Choice best{stays, kNone, 0, 0};
  double before = 0;
  double copy = std::numeric_limits<double>::infinity();
  Slot copied = epoch.written, looked = epoch.written;
  for (std::uint32_t g = epoch.begin; g < epoch.end; ++g) {
    const Gap& gap = gaps_[g];
    const auto first = static_cast<std::size_t>(gap.first);
    const double stay = held_[static_cast<std::size_t>(gap.last) + 1] - held_[first];
    later -= std::min(stay, least_[first]);
    for (Slot i = gap.first; i <= gap.last; ++i) {
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

void PriceBound::hold(Slot first, Slot last, double bytes, Prices& slope) const {
  for (Slot b = first; b <= last; ++b) slope.room[static_cast<std::size_t>(b % slots_)] += bytes;
}

void PriceBound::charge(const Epoch& epoch, const Choice& choice, Prices& slope) {
  const auto move = [&](Slot slot, bool in) {
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      slope.side[side][static_cast<std::size_t>(slot % slots_)] +=
          epoch.bytes * (in ? sides_[side].in : sides_[side].out);
    }
  };
  if (choice.gap != kNone && choice.copied != kNever) move(choice.copied, false);
  for (std::uint32_t g = epoch.begin; g < epoch.end; ++g) {
    const Gap& gap = gaps_[g];
    if (choice.gap == kNone || g < choice.gap) {
      hold(gap.first, gap.last, epoch.bytes, slope);
      continue;
    }
    suffix(gap);
    const Slot out = g == choice.gap && choice.copied != kNever ? choice.out : gap.first;
    const double stay =
        held_[static_cast<std::size_t>(gap.last) + 1] - held_[static_cast<std::size_t>(gap.first)];
    const bool stays =
        (g != choice.gap || choice.copied == kNever) && stay <= least_[static_cast<std::size_t>(gap.first)];
    if (stays) {
      hold(gap.first, gap.last, epoch.bytes, slope);
      continue;
    }
    const Slot back = back_[static_cast<std::size_t>(out)];
    hold(gap.first, out - 1, epoch.bytes, slope);
    hold(back + 1, gap.last, epoch.bytes, slope);
    move(back, true);
  }
}

// The bound that these prices prove, and in which direction better ones lie.
double PriceBound::value(const Prices& prices, Prices& slope) {
  spread(prices);
  double sum = 0;
  for (Slot b = 0; b < slots_; ++b) {
    const auto at = static_cast<std::size_t>(b);
    slope.room[at] = -room_[at];
    sum -= prices.room[at] * room_[at];
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      slope.side[side][at] = -seconds_[at];
      sum -= prices.side[side][at] * seconds_[at];
    }
  }
  for (const Epoch& epoch : epochs_) {
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

// Climbs towards what is known to be reached, along a mean of the latest slopes; begins anew from the best
// prices, with shorter steps, when it no longer gets higher.
double PriceBound::stall(double target) {
  const auto slots = static_cast<std::size_t>(slots_);
  Prices prices{std::vector<double>(slots, 0), {sides_.size(), std::vector<double>(slots, 0)}};
  Prices slope = prices, way = prices;
  const double stalled = target / (target + step_.ideal()) / static_cast<double>(sides_.size());
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
  const double room = kRoomScale * (sides_.front().in + sides_.back().out);  // what its prices are like
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
  for (std::size_t i = 0; i < sides_.size(); ++i) turn(prices.side[i], slope.side[i], way.side[i], 1);
  if (square <= 0) return;
  for (std::size_t b = 0; b < prices.room.size(); ++b) {
    prices.room[b] += gain / square * room * way.room[b];
    for (std::size_t i = 0; i < sides_.size(); ++i) prices.side[i][b] += gain / square * way.side[i][b];
  }
}

}  // namespace tencache::policy
