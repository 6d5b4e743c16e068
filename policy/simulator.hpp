// Runs a step over and over on a modelled machine, a strategy deciding what moves: discrete events, two link
// directions with a rate region, one mapper thread, kernels admitted at most `run_ahead` before they start.
// Called by the planner (in the process, in the background) and by the tools. Thread rule: one object, one
// caller. Failure rule: a kernel that cannot fit gives Outcome::feasible = false.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "policy/machine.hpp"
#include "policy/memory.hpp"
#include "policy/strategy.hpp"

namespace tencache::policy {

struct Move {
  enum class Kind : std::uint8_t { kFetch, kWrite, kDrop, kRun };
  Kind kind;
  std::uint32_t index;  // tensor; for kRun the kernel
  std::int64_t first;   // bytes
  std::int64_t bytes;
  double start;  // seconds from the step's start
  double end;
};

struct ResidentRange {  // of one tensor, in HBM when the step starts
  TensorIndex tensor;
  std::int64_t first;
  std::int64_t bytes;
  bool clean;
};

// One steady step as it happened, for whoever wants to check it.
struct Schedule {
  std::vector<ResidentRange> resident;
  std::vector<Move> moves;  // by time
  double seconds = 0;
};

// What the planner learns from the last simulated step.
struct StepRecord {
  std::vector<std::int64_t> dropped;      // per use: bytes dropped between it and the tensor's next use
  std::vector<std::uint32_t> first_drop;  // per use: kernels from it to the first of those drops
  std::vector<double> start;              // per kernel, from the step's start
  std::vector<std::int64_t> fetched_for;  // per kernel
  std::vector<std::int64_t> cleaned;      // per use: bytes copied out between it and the next use
  std::vector<std::uint8_t> unchanged;    // per tensor: some comparison found it so
  double seconds = 0;
};

struct Outcome {
  bool feasible = true;
  double step_seconds = 0;  // mean of the later half of the steps, never of the first two
  double bytes_in = 0;      // a step, likewise
  double bytes_out = 0;
  double hit_rate = 1;      // bytes in HBM when the GPU was ready for them, of all bytes touched
  LinkRates measured_link;  // from the copies made; the machine's own where none was
  std::vector<double> steps;
};

struct Run {
  std::uint32_t steps = 4;
  double noise = 0;  // kernel durations vary by up to this fraction, anew each time
  std::uint64_t seed = 1;
  StepRecord* record = nullptr;  // of the last step
  Schedule* schedule = nullptr;  // of the last step
};

class Simulator {
 public:
  Simulator(const Step& step, const Machine& machine, Strategy& strategy, const Run& run);
  Outcome run();

 private:
  // Whole bytes that a copy under way has moved.
  template <class Copy>
  static std::int64_t moved(const Copy& copy) {
    const double left = std::min(copy.remaining, static_cast<double>(copy.bytes));
    const auto whole = static_cast<std::int64_t>(left);
    return copy.bytes - whole - (static_cast<double>(whole) < left ? 1 : 0);
  }
  struct Copy {
    bool active = false;
    TensorIndex tensor = kNoTensor;
    std::int64_t first = 0;
    std::int64_t bytes = 0;
    double remaining = 0;
    double start = 0;
    std::int64_t before_step = 0;  // bytes that had moved when the recorded step began
    std::uint32_t touches = 0;
  };
  struct GpuWork {
    double end;
    KernelIndex kernel;       // or
    TensorIndex fingerprint;  // kNoTensor for a kernel
    std::uint32_t touches;
    std::int64_t first;  // of the bytes compared
  };
  struct Mapping {
    double end;
    TensorIndex tensor;  // kNoTensor: blocks for births
    std::int64_t bytes;
  };

  void settle();
  bool try_admit();
  bool prepare_births(KernelIndex kernel);
  void admit(KernelIndex kernel);
  void use_links();
  void try_fetch();
  void try_clean();
  bool make_room(std::int64_t bytes, Position after, std::int64_t* dropped);
  void drop(TensorIndex tensor);
  void start_fetch(TensorIndex tensor, std::int64_t bytes);
  void start_clean(TensorIndex tensor);
  void try_check();
  void start_check(TensorIndex tensor);
  void fingerprint(TensorIndex tensor, std::int64_t first, std::int64_t bytes);
  bool break_deadlock();
  bool stuck();

  [[nodiscard]] double next_event() const;
  void advance(double to);
  void measure(double seconds);
  void finish_fetch();
  void finish_clean();
  void finish_mapping();
  void finish_gpu_work();
  void finish_fingerprint(const GpuWork& work);
  void end_step();
  void snapshot();
  void snapshot(TensorIndex tensor);
  [[nodiscard]] Outcome summary() const;
  void close_schedule();
  void log(Move::Kind kind, std::uint32_t index, std::int64_t first, std::int64_t bytes, double start);
  void count_hits();

  [[nodiscard]] bool window_open() const { return now_ >= work_end_ - run_ahead_; }
  // When room must be made for the next kernel at the latest: those under way may leave some until then.
  void derive_mapping_lead();
  [[nodiscard]] double latest_start() const;
  [[nodiscard]] Moment moment() const { return {now_, started_, waiting_, stalled_, short_of_room_}; }
  [[nodiscard]] std::uint32_t first_counted() const {
    return std::min(run_.steps - 1, std::max(2u, run_.steps / 2));
  }
  [[nodiscard]] bool recording() const { return steps_done_ + 1 == run_.steps; }
  [[nodiscard]] double rate_in() const {
    return out_.active ? machine_.link.in_duplex : machine_.link.in_alone;
  }
  [[nodiscard]] double rate_out() const {
    return in_.active ? machine_.link.out_duplex : machine_.link.out_alone;
  }
  [[nodiscard]] double duration(KernelIndex kernel);
  // Small tensors share blocks, so what is mapped counts by its bytes.
  [[nodiscard]] double map_seconds(std::int64_t bytes) const {
    return map_seconds_ * static_cast<double>(bytes) / static_cast<double>(block_);
  }

  const Step& step_;
  const Machine machine_;
  const Run run_;
  Strategy& strategy_;
  Memory memory_;
  double map_seconds_;
  double run_ahead_;
  std::int64_t block_;

  double now_ = 0;
  double work_end_ = 0;      // when all admitted GPU work is done
  double host_ready_ = 0;    // when the program can enqueue the next kernel
  double births_ready_ = 0;  // when the blocks for the next kernel's births are mapped
  bool births_taken_ = false;
  bool waiting_ = false;
  bool stalled_ = false;
  bool short_of_room_ = false;
  bool counted_ = false;
  std::uint64_t started_ = 0;
  std::uint64_t events_since_admission_ = 0;
  bool turn_of_out_ = false;  // where the directions take turns
  std::uint32_t steps_done_ = 0;
  std::uint64_t random_;
  Copy in_, out_;
  std::deque<GpuWork> gpu_;
  std::deque<Mapping> mapper_;
  double mapper_end_ = 0;
  std::vector<double> mapping_lead_;  // seconds, by kernel
  double step_start_ = 0;
  double bytes_in_ = 0, bytes_out_ = 0, touched_ = 0, hits_ = 0;
  Outcome outcome_;
  struct Busy {
    double bytes = 0, seconds = 0;
    [[nodiscard]] double rate(double otherwise) const { return seconds > 0 ? bytes / seconds : otherwise; }
  };
  Busy in_alone_, out_alone_, in_duplex_, out_duplex_;
};

}  // namespace tencache::policy
