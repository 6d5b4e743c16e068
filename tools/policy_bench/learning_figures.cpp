#include "tools/policy_bench/learning_figures.hpp"

#include <time.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "policy/learning.hpp"

namespace tencache::bench {
namespace {

using policy::ExtentIndex;
using policy::KernelIndex;

// A program that runs a step: a tensor is an extent, transients are made and freed within the step.
class Program {
 public:
  explicit Program(const policy::Step& step) : step_(step), signatures_(step.kernels()) {
    for (policy::TensorIndex tensor = 0; tensor < step.tensors(); ++tensor) {
      if (step.persistent(tensor)) create(tensor);
    }
    for (KernelIndex kernel = 0; kernel < step.kernels(); ++kernel) {
      std::uint64_t hash = std::bit_cast<std::uint64_t>(step.seconds(kernel));
      for (const policy::Use& use : step.uses(kernel)) {
        hash = hash * 31 + static_cast<std::uint64_t>(step.size(use.tensor)) * 2 + use.writes;
      }
      signatures_[kernel] = hash;
    }
  }

  void run(KernelIndex kernel) {
    create_for(kernel);
    launch(kernel);
    destroy_after(kernel);
  }
  // This one and the next, on streams of their own, enqueued in the other order.
  void run_turned(KernelIndex kernel) {
    create_for(kernel);
    create_for(kernel + 1);
    launch(kernel + 1);
    launch(kernel);
    destroy_after(kernel);
    destroy_after(kernel + 1);
  }
  void run_step() {
    for (KernelIndex kernel = 0; kernel < step_.kernels(); ++kernel) run(kernel);
  }
  // Reads of what lives for ever, in the step's order, by kernels of other kinds.
  void evaluate(KernelIndex kernels) {
    for (KernelIndex kernel = 0; kernel < kernels; ++kernel) {
      touched_.clear();
      for (const policy::Use& use : step_.uses(kernel)) {
        if (step_.persistent(use.tensor)) touched_.push_back(use.tensor);
      }
      observe(~signatures_[kernel]);
    }
  }
  void strange() {
    touched_.clear();
    observe(0x5EED + ++strange_);
  }

  [[nodiscard]] const policy::ReplayCursor& cursor() const { return policy_.cursor(); }
  [[nodiscard]] bool trusted() const { return cursor().following() && cursor().agreed() >= 16; }

 private:
  void create_for(KernelIndex kernel) {
    for (const policy::Use& use : step_.uses(kernel)) {
      if (use.birth) create(use.tensor);
    }
  }
  void launch(KernelIndex kernel) {
    touched_.clear();
    for (const policy::Use& use : step_.uses(kernel)) touched_.push_back(use.tensor);
    observe(signatures_[kernel]);
  }
  void destroy_after(KernelIndex kernel) {
    for (const policy::Use& use : step_.uses(kernel)) {
      if (use.death) policy_.extent_destroyed(use.tensor);
    }
  }
  void create(policy::TensorIndex tensor) {
    const Bytes size(static_cast<std::uint64_t>(step_.size(tensor)));
    policy_.extent_created({tensor, tensor, ++created_, size, 0_B, size});
  }
  void observe(std::uint64_t signature) {
    now_ += 100_us;
    policy_.access({++accesses_, 0, now_, signature, false, touched_, touched_});
  }

  const policy::Step& step_;
  policy::Learning policy_;
  std::vector<std::uint64_t> signatures_;
  std::vector<ExtentIndex> touched_;
  std::uint64_t created_ = 0, accesses_ = 0, strange_ = 0;
  Nanoseconds now_;
};

// Accesses of a step until it is followed with trust again, as a part of it.
double until_trusted(Program& program, const policy::Step& step) {
  for (KernelIndex kernel = 0; kernel < step.kernels(); ++kernel) {
    program.run(kernel);
    if (program.trusted()) return (kernel + 1.0) / step.kernels();
  }
  return 1e9;
}

constexpr KernelIndex kMostSteps = 10;

}  // namespace

double lock_steps(const policy::Step& step) {
  Program program(step);
  for (std::uint64_t access = 0; access < std::uint64_t{kMostSteps} * step.kernels(); ++access) {
    program.run(static_cast<KernelIndex>(access % step.kernels()));
    const bool whole = program.cursor().lag() == step.kernels();
    if (program.cursor().locked() && whole) return (static_cast<double>(access) + 1) / step.kernels();
  }
  return 1e9;
}

double relock_steps(const policy::Step& step) {
  Program evaluated(step), noisy(step), turned(step);
  for (Program* program : {&evaluated, &noisy, &turned}) {
    for (int i = 0; i < 3; ++i) program->run_step();
  }
  evaluated.evaluate(step.kernels() / 3);
  double worst = until_trusted(evaluated, step);
  for (KernelIndex kernel = 0; kernel < step.kernels(); ++kernel) {
    if (kernel % 50 == 7) noisy.strange();
    noisy.run(kernel);
  }
  worst = std::max(worst, until_trusted(noisy, step));
  for (KernelIndex kernel = 0; kernel + 1 < step.kernels(); kernel += 2) turned.run_turned(kernel);
  return std::max(worst, until_trusted(turned, step));
}

std::uint64_t false_locks(std::uint64_t accesses) {
  constexpr ExtentIndex kExtents = 64;
  constexpr std::uint64_t kKinds = 16;
  policy::Learning learning;
  for (ExtentIndex extent = 0; extent < kExtents; ++extent) {
    learning.extent_created({extent, extent, extent + 1, 1_MiB, 0_B, 1_MiB});
  }
  std::uint64_t random = 88172645463325252u;
  std::uint64_t locks = 0;
  bool locked = false;
  for (std::uint64_t i = 1; i <= accesses; ++i) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    const ExtentIndex extent = static_cast<ExtentIndex>(random >> 40) % kExtents;
    learning.access({i, 0, Nanoseconds(i * 1000), random % kKinds, false, {&extent, 1}, {&extent, 1}});
    if (learning.cursor().locked() && !locked) ++locks;
    locked = learning.cursor().locked();
  }
  return locks;
}

namespace {

// Of this thread's own time: who else is on the core does not count.
double thread_nanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

}  // namespace

double observe_nanoseconds(const policy::Step& step) {
  Program program(step);
  const std::uint64_t all = policy::History::kAccesses / step.kernels() + 3;  // all of the ring has been used
  for (std::uint64_t i = 0; i < all; ++i) program.run_step();
  constexpr int kSteps = 5;
  const double begin = thread_nanoseconds();
  for (int i = 0; i < kSteps; ++i) program.run_step();
  return (thread_nanoseconds() - begin) / kSteps / step.kernels();
}

}  // namespace tencache::bench
