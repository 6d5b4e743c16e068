#include "policy/window_bound.hpp"

#include <algorithm>
#include <numeric>

namespace tencache::policy {
namespace {

constexpr std::size_t kCells = 192;  // between which windows begin and end, to begin with
constexpr std::size_t kOrigins = 24;

}  // namespace

WindowBound::WindowBound(const Step& step, std::int64_t capacity, double rate_in, double rate_out)
    : step_(step),
      n_(step.kernels()),
      capacity_(static_cast<double>(capacity)),
      rate_in_(rate_in),
      rate_out_(rate_out),
      uses_of_(step.tensors()) {
  for (Position position = 0; position < step.positions(); ++position) {
    uses_of_[step.use(position).tensor].push_back(position);
  }
  grid_ = cells(kCells);
  choose_middles();
  index_grid();
}

// The first kernels of `cells` cells alike in time, bytes and number of kernels.
std::vector<WindowBound::Kernel> WindowBound::cells(std::size_t cells) const {
  double touched = 0;
  for (KernelIndex k = 0; k < step_.kernels(); ++k) touched += static_cast<double>(step_.touched(k));
  double passed = 0;
  std::vector<Kernel> first;
  for (KernelIndex k = 0; k < step_.kernels(); ++k) {
    if (passed / 3 * static_cast<double>(cells) >= static_cast<double>(first.size())) first.push_back(k);
    passed += 1 / static_cast<double>(n_) +
              (touched > 0 ? static_cast<double>(step_.touched(k)) / touched : 0) +
              (step_.ideal() > 0 ? step_.seconds(k) / step_.ideal() : 0);
  }
  return first;
}

// The grid, and of each of its cells the kernel that touches most, since that is where room is shortest.
void WindowBound::choose_middles() {
  for (std::size_t i = 0; i < grid_.size(); ++i) {
    const Kernel end = i + 1 < grid_.size() ? grid_[i + 1] : n_;
    Kernel heaviest = grid_[i];
    for (Kernel k = grid_[i]; k < end; ++k) {
      if (step_.touched(static_cast<KernelIndex>(k)) > step_.touched(static_cast<KernelIndex>(heaviest)))
        heaviest = k;
    }
    middles_.push_back(grid_[i] + n_);
    if (heaviest != grid_[i]) middles_.push_back(heaviest + n_);
  }
}

void WindowBound::index_grid() {
  floor_.clear();
  std::int64_t point = -1;
  for (Kernel k = 0; k < n_; ++k) {
    if (point + 1 < static_cast<std::int64_t>(grid_.size()) &&
        grid_[static_cast<std::size_t>(point + 1)] == k)
      ++point;
    floor_.push_back(point);
  }
}

WindowBound::Kernel WindowBound::grid(std::int64_t point) const {
  const auto points = static_cast<std::int64_t>(grid_.size());
  return grid_[static_cast<std::size_t>(point % points)] + point / points * n_;
}

std::int64_t WindowBound::grid_floor(Kernel kernel) const {
  return floor_[static_cast<std::size_t>(kernel % n_)] +
         kernel / n_ * static_cast<std::int64_t>(grid_.size());
}

double WindowBound::start(Kernel kernel) const {
  const Kernel lap = kernel / n_;
  return step_.start(static_cast<KernelIndex>(kernel % n_)) + static_cast<double>(lap) * step_.ideal();
}

bool WindowBound::see(TensorIndex tensor, Kernel m, Item& item) const {
  const std::vector<Position>& uses = uses_of_[tensor];
  if (uses.empty()) return false;
  const Position here = step_.begin(static_cast<KernelIndex>(m - n_));
  const auto next = std::lower_bound(uses.begin(), uses.end(), here);
  const bool persistent = step_.persistent(tensor);
  if (!persistent && (next == uses.begin() || next == uses.end())) return false;
  item.size = static_cast<double>(step_.size(tensor));
  item.used = next == uses.end() ? step_.use(uses.front()).kernel + 2 * n_ : step_.use(*next).kernel + n_;
  item.written = kNever;
  for (auto use = next; use != uses.begin();) {
    if (step_.use(*--use).writes) return item.written = step_.use(*use).kernel + n_, true;
  }
  if (!persistent) return true;
  for (auto use = uses.end(); use != next;) {
    if (step_.use(*--use).writes) return item.written = step_.use(*use).kernel, true;
  }
  return true;
}

WindowBound::View WindowBound::view(Kernel m) const {
  View view;
  view.m = m;
  view.room = capacity_ - static_cast<double>(step_.births(static_cast<KernelIndex>(m - n_)));
  view.items.reserve(uses_of_.size());
  Item item{};
  for (TensorIndex tensor = 0; tensor < uses_of_.size(); ++tensor) {
    if (see(tensor, m, item)) view.items.push_back(item);
  }
  return view;
}

double WindowBound::gain(const View& view, Kernel p, Kernel q, const Sums& sums) const {
  const bool out = p < view.m;
  const bool in = q > view.m + 1;
  const double covered_out = out ? rate_out_ * (start(view.m) - start(p + 1)) : 0;
  const double covered_in = in ? rate_in_ * (start(q - 1) - start(view.m)) : 0;
  const double bytes = sums.v + sums.u - view.room - std::min(view.room, sums.both) -
                       std::min(sums.v, covered_out) - std::min(sums.u, covered_in);
  const double rate = !in ? rate_out_ : !out ? rate_in_ : std::max(rate_in_, rate_out_);
  return bytes / rate;
}

void WindowBound::fill_gains(Kernel m) {
  const View view = this->view(m);
  const auto points = static_cast<std::int64_t>(grid_.size());
  const std::int64_t at = grid_floor(m);
  const bool on_grid = grid(at) == m;
  const std::int64_t before = on_grid ? at - 1 : at;  // p runs over m and the grid from here backwards,
  const std::int64_t behind = at + 1;                 // q - 1 over m and the grid from here forwards
  std::vector<double> v(grid_.size() + 1, 0), u(grid_.size() + 1, 0), shared(grid_.size() + 1, 0);
  both_.assign((grid_.size() + 1) * (grid_.size() + 1), 0);
  for (const Item& item : view.items) {
    const std::int64_t i = item.written == kNever ? points + 1 : before - grid_floor(item.written) + 1;
    const std::int64_t floor = grid_floor(item.used);
    const std::int64_t j = item.used == m ? 0 : floor + (grid(floor) < item.used ? 1 : 0) - behind + 1;
    if (i <= points) v[static_cast<std::size_t>(i)] += item.size;
    if (j <= points) u[static_cast<std::size_t>(j)] += item.size;
    if (i <= points && j <= points) both_[static_cast<std::size_t>(i * (points + 1) + j)] += item.size;
  }
  std::partial_sum(u.begin(), u.end(), u.begin());
  Sums sums;
  for (std::int64_t i = 0; i <= points; ++i) {
    sums.v += v[static_cast<std::size_t>(i)];
    const std::int64_t begin = i == 0 ? at : before - i + 1;
    double row = 0;
    for (std::int64_t j = 0; j <= points; ++j) {
      const std::int64_t end = j == 0 ? (on_grid ? at : at + 1) : behind + j - 1;
      if (end - begin >= points) break;
      row += both_[static_cast<std::size_t>(i * (points + 1) + j)];
      sums.both = shared[static_cast<std::size_t>(j)] += row;
      sums.u = u[static_cast<std::size_t>(j)];
      const Window window{i == 0 ? m : grid(begin), m, j == 0 ? m + 1 : grid(end) + 1, 0};
      const double seconds = gain(view, window.p, window.q, sums);
      Window& best = gains_[static_cast<std::size_t>(begin % points * points + end - begin)];
      if (seconds > best.gain) best = {window.p, window.m, window.q, seconds};
    }
  }
}

// The windows with the largest sum of gains that lie within one step from this grid point on.
std::vector<WindowBound::Window> WindowBound::best_windows(std::size_t origin) const {
  const std::size_t points = grid_.size();
  std::vector<double> best(points + 1, 0);
  std::vector<std::size_t> from(points + 1, 0);
  for (std::size_t end = 1; end <= points; ++end) {
    best[end] = best[end - 1];
    from[end] = end;
    for (std::size_t begin = end == points ? 1 : 0; begin < end; ++begin) {
      const double sum = best[begin] + gains_[(origin + begin) % points * points + end - begin].gain;
      if (sum > best[end]) best[end] = sum, from[end] = begin;
    }
  }
  std::vector<Window> windows;
  for (std::size_t end = points; end > 0;) {
    const std::size_t begin = from[end];
    if (begin < end) windows.push_back(gains_[(origin + begin) % points * points + end - begin]);
    end = begin < end ? begin : end - 1;
  }
  std::reverse(windows.begin(), windows.end());
  return windows;
}

std::vector<WindowBound::Window> WindowBound::best_windows() const {
  std::vector<Window> best;
  double most = 0;
  for (std::size_t i = 0; i < kOrigins; ++i) {
    std::vector<Window> windows = best_windows(i * grid_.size() / kOrigins);
    double sum = 0;
    for (const Window& window : windows) sum += window.gain;
    if (sum > most) most = sum, best = std::move(windows);
  }
  return best;
}

// The best beginning for the window's middle and end, not before `lowest`.
void WindowBound::best_p(const View& view, Window& window, Kernel lowest) const {
  lowest = std::max(lowest, window.q - n_);
  const auto length = static_cast<std::size_t>(view.m - lowest);
  std::vector<double> written(length + 1, 0), shared(length + 1, 0);
  Sums sums;
  for (const Item& item : view.items) {
    const bool used = item.used < window.q;
    sums.u += used ? item.size : 0;
    if (item.written < lowest) continue;
    written[static_cast<std::size_t>(view.m - item.written)] += item.size;
    if (used) shared[static_cast<std::size_t>(view.m - item.written)] += item.size;
  }
  for (std::size_t i = 0; i <= length; ++i) {
    sums.v += written[i];
    sums.both += shared[i];
    const Kernel p = view.m - static_cast<Kernel>(i);
    const double seconds = gain(view, p, window.q, sums);
    if (seconds > window.gain) window = {p, view.m, window.q, seconds};
  }
}

// The best end for the window's beginning and middle, not behind `highest`.
void WindowBound::best_q(const View& view, Window& window, Kernel highest) const {
  highest = std::min(highest, window.p + n_);
  const auto length = static_cast<std::size_t>(highest - view.m);
  std::vector<double> used(length, 0), shared(length, 0);
  Sums sums;
  for (const Item& item : view.items) {
    const bool written = item.written >= window.p;
    sums.v += written ? item.size : 0;
    if (item.used >= highest) continue;
    used[static_cast<std::size_t>(item.used - view.m)] += item.size;
    if (written) shared[static_cast<std::size_t>(item.used - view.m)] += item.size;
  }
  for (std::size_t j = 0; j < length; ++j) {
    sums.u += used[j];
    sums.both += shared[j];
    const Kernel q = view.m + static_cast<Kernel>(j) + 1;
    const double seconds = gain(view, window.p, q, sums);
    if (seconds > window.gain) window = {window.p, view.m, q, seconds};
  }
}

// Moves the window off the grid, kernel by kernel, while its gain grows; it stays clear of its neighbours.
void WindowBound::refine(Window& window, Kernel lowest, Kernel highest) const {
  const std::int64_t point = grid_floor(window.m);
  const Kernel shift = window.m / n_ * n_ - n_;  // so that every view is of the second step
  Window best = window;
  for (Kernel m = grid(point - 1) + 1; m < grid(point + 2); ++m) {
    if (m < window.p || m >= window.q || (m - shift) / n_ != 1) continue;
    const View view = this->view(m - shift);
    Window trial{window.p - shift, view.m, window.q - shift, 0};
    for (int round = 0; round < 2; ++round) {
      best_p(view, trial, lowest - shift);
      best_q(view, trial, highest - shift);
    }
    if (trial.gain > best.gain) best = {trial.p + shift, m, trial.q + shift, trial.gain};
  }
  window = best;
}

// Puts the windows in one order in time: what was found is known by its first kernel within a step.
void WindowBound::unroll(std::vector<Window>& windows) const {
  Kernel behind = n_;
  for (Window& window : windows) {
    while (window.p < behind) window = {window.p + n_, window.m + n_, window.q + n_, window.gain};
    while (window.p - n_ >= behind) window = {window.p - n_, window.m - n_, window.q - n_, window.gain};
    behind = window.q - 1;
  }
}

double WindowBound::stall() {
  gains_.assign(grid_.size() * grid_.size(), {});
  for (const Kernel m : middles_) fill_gains(m);
  std::vector<Window> windows = best_windows();
  unroll(windows);
  double sum = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const Kernel before = i > 0 ? windows[i - 1].q - 1 : windows.back().q - 1 - n_;
    const Kernel after = i + 1 < windows.size() ? windows[i + 1].p : windows.front().p + n_;
    refine(windows[i], before, after + 1);
    sum += windows[i].gain;
  }
  return sum;
}

}  // namespace tencache::policy
