// The stall that windows of kernels prove, for one pair of tiers. Part of the bound. Thread rule: one caller.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/step.hpp"

namespace tencache::policy {

class WindowBound {
 public:
  // `capacity` bytes above a link that brings in and takes out at most these bytes a second.
  WindowBound(const Step& step, std::int64_t capacity, double rate_in, double rate_out);
  [[nodiscard]] double stall();

 private:
  // Kernels are counted on through several steps: kernel k of the second step is n + k.
  using Kernel = std::int64_t;
  struct Item {  // a tensor that exists before a kernel m and is used again
    double size;
    Kernel written;  // last written, before m; kNever if not within a step
    Kernel used;     // next used, at m or later
  };
  struct View {  // the step as seen at the start of kernel m, a kernel of the second step
    Kernel m = 0;
    double room = 0;  // capacity less what m brings into being
    std::vector<Item> items;
  };
  struct Window {  // proves `gain` seconds of stall before the kernels p+1 to q-1
    Kernel p = 0, m = 0, q = 0;
    double gain = 0;
  };
  struct Sums {
    double v = 0, u = 0, both = 0;
  };

  [[nodiscard]] std::vector<Kernel> cells(std::size_t cells) const;
  void choose_middles();
  void index_grid();
  [[nodiscard]] Kernel grid(std::int64_t point) const;  // points are counted on like kernels
  [[nodiscard]] std::int64_t grid_floor(Kernel kernel) const;
  [[nodiscard]] View view(Kernel m) const;
  [[nodiscard]] bool see(TensorIndex tensor, Kernel m, Item& item) const;
  [[nodiscard]] double start(Kernel kernel) const;
  [[nodiscard]] double gain(const View& view, Kernel p, Kernel q, const Sums& sums) const;
  void fill_gains(Kernel m);
  [[nodiscard]] std::vector<Window> best_windows() const;
  [[nodiscard]] std::vector<Window> best_windows(std::size_t origin) const;
  void refine(Window& window, Kernel lowest, Kernel highest) const;
  void best_p(const View& view, Window& window, Kernel lowest) const;
  void best_q(const View& view, Window& window, Kernel highest) const;
  void unroll(std::vector<Window>& windows) const;

  static constexpr Kernel kNever = -(std::int64_t{1} << 40);
  const Step& step_;
  Kernel n_;
  double capacity_;
  double rate_in_, rate_out_;
  std::vector<Kernel> grid_;         // kernels of one step at which windows may begin and end at first
  std::vector<std::int64_t> floor_;  // per kernel of one step: the last grid point not behind it, or -1
  std::vector<Kernel> middles_;      // of the second step
  std::vector<double> both_;         // scratch of fill_gains
  std::vector<Window> gains_;        // [first grid point * points + length]
  std::vector<std::vector<Position>> uses_of_;
};

}  // namespace tencache::policy
