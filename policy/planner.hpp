// Turns a simulated step into a plan: how much of every tensor to copy out by when, and from which kernel on
// a fetch may displace something. The plan is refined on the simulator and kept only where that says it is
// faster than greedy. Called in the background of the process, and by the tools. Thread rule: pure functions;
// a Planned belongs to one simulation. Failure rule: without a feasible run, greedy is what remains.
#pragma once

#include <atomic>
#include <cstdint>
#include <queue>
#include <vector>

#include "policy/greedy.hpp"
#include "policy/simulator.hpp"

namespace tencache::policy {

struct Plan {
  std::vector<std::int64_t> dropped;   // per use: bytes dropped before the tensor's next use
  std::vector<std::int64_t> need;      // per use: bytes to have copied out before the tensor is written again
  std::vector<std::uint32_t> due;      // per use: kernels from it to the first drop that needs them
  std::vector<std::uint32_t> lead;     // per kernel: so many kernels ahead its fetches may displace others
  bool eager = false;                  // what is not due is copied out as well while the link is idle
  double margin = 0;                   // of the step: a fetch displaces only what is needed so much later
  bool maps_ahead = false;             // room for births is made as early as mapping them all takes
  bool compares = true;                // where writes are unknown: what leaves is compared, else it is copied
  std::vector<std::uint8_t> compared;  // those tensors alone, found unchanged before; all, if empty
  bool greedy = true;                  // nothing was found that beats it
  double seconds = 0;                  // the simulated step
};

class Planned final : public Greedy {
 public:
  Planned(const Step& step, const Plan& plan, bool writes_known);
  void begin(const Memory& memory, std::int64_t block) override;
  void completed(KernelIndex kernel) override;
  TensorIndex next_clean(const Moment& moment) override;
  TensorIndex next_check(const Moment& moment) override;
  [[nodiscard]] std::int64_t wanted_clean(TensorIndex tensor) const override;
  [[nodiscard]] bool wants_print(TensorIndex tensor) const override;
  [[nodiscard]] Position fetch_margin() const override { return margin_; }
  [[nodiscard]] bool maps_ahead() const override { return plan_.maps_ahead; }

 protected:
  [[nodiscard]] bool due(KernelIndex kernel) const override;

 private:
  struct Cleaning {
    std::uint64_t due;  // counts kernels from the start
    TensorIndex tensor;
    bool operator>(const Cleaning& other) const { return due > other.due; }
  };
  const Step& step_;
  const Plan& plan_;
  std::priority_queue<Cleaning, std::vector<Cleaning>, std::greater<>> cleanings_;
  struct Check {
    TensorIndex tensor;
    Position last;  // the use after which it is due
  };
  std::queue<Check> checks_;
  std::uint64_t completed_ = 0;
  const bool writes_known_;
  const Position margin_;
};

Plan derive_plan(const Step& step, const StepRecord& record, const Machine& machine, double guard_seconds);
// The first plan is there soon, to begin with; the refined one is what the background makes of it.
enum class Effort : std::uint8_t { kFirst, kRefined };
// `stop`, where given, ends it soon; what it answers then counts for nothing.
Plan make_plan(const Step& step, const Machine& machine, Effort effort = Effort::kRefined,
               const std::atomic<bool>* stop = nullptr);
// The steady step under the plan, or under greedy where that is what the plan says.
Outcome run_plan(const Step& step, const Machine& machine, const Plan& plan, const Run& run);

}  // namespace tencache::policy
