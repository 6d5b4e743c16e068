// One launch: checks, then its blocks. Kernels whose blocks may be ordered by what they read and write run
// block after block on one thread; a block that spins lets more blocks in.
#include <fmt/format.h>
#include <immintrin.h>
#include <sched.h>

#include <algorithm>
#include <deque>
#include <thread>

#include "tools/softgpu/engine/program.hpp"
#include "tools/softgpu/engine/state.hpp"
#include "tools/softgpu/engine/testing.hpp"

namespace softgpu::engine {
namespace {

constexpr std::uint32_t kMaxThreads = 1024;
constexpr std::size_t kMaxResident = 64;            // blocks of a launch that wait for each other
constexpr std::uint32_t kPatience = 16;             // rests of a block before another is let in
constexpr std::uint64_t kWorthAThread = 3'000'000;  // lane-instructions that make up for starting a thread
constexpr std::uint32_t kRestsPerYield = 8;         // rests before the CPU is offered to others

Outcome refused(std::string message) {
  Outcome outcome;
  outcome.kind = OutcomeKind::kLaunchFailed;
  outcome.message = std::move(message);
  return outcome;
}
std::uint64_t product(const std::array<std::uint32_t, 3>& sizes) {
  return std::uint64_t{sizes[0]} * sizes[1] * sizes[2];
}

// Rounding to nearest, no flushing, no exceptions, whatever the caller has set.
class PlainArithmetic {
 public:
  PlainArithmetic() : before_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~PlainArithmetic() { _mm_setcsr(before_); }
  PlainArithmetic(const PlainArithmetic&) = delete;
  PlainArithmetic& operator=(const PlainArithmetic&) = delete;

 private:
  unsigned before_;
};

std::unique_ptr<Block> make_block(const KernelState& kernel, Worker& worker) {
  auto block = std::make_unique<Block>();
  block->kernel = &kernel;
  block->worker = &worker;
  return block;
}
void report_deadlock(const Block& block, Worker& worker) {
  if (worker.outcome.kind != OutcomeKind::kDone) return;
  worker.outcome.kind = OutcomeKind::kDeadlock;
  for (const auto& pack : block.packs) {
    for (const Group& group : pack->groups) {
      const Instruction& at = group.frame->code->instructions[group.at];
      worker.outcome.line = at.line;
      worker.outcome.message =
          fmt::format("deadlock in {} at PTX line {}, block ({}, {}, {}): {}", group.frame->code->name,
                      at.line, block.id[0], block.id[1], block.id[2],
                      group.waits == Waits::kBarrier ? "a barrier that can never fill"
                                                     : "lanes named by a member mask never arrive");
      return;
    }
  }
}

// All blocks of an ordered or cooperative launch, in linear order.
class OrderedBlocks {
 public:
  OrderedBlocks(const KernelState& kernel, Worker& worker, std::uint64_t blocks)
      : kernel_(kernel), worker_(worker), blocks_(blocks) {}

  void run() {
    const std::size_t at_first = kernel_.launch->cooperative ? static_cast<std::size_t>(blocks_) : 1;
    while (resident_.size() < at_first) admit();
    while (!resident_.empty() && step()) {
    }
  }

 private:
  struct Resident {
    std::unique_ptr<Block> block;
    bool rested = false;
  };
  void admit() {
    std::unique_ptr<Block> block = free_.empty() ? make_block(kernel_, worker_) : std::move(free_.back());
    if (!free_.empty()) free_.pop_back();
    start_block(*block, next_++);
    resident_.push_back({std::move(block), false});
  }
  // Runs the block in front. False: the launch is over.
  bool step() {
    Resident resident = std::move(resident_.front());
    resident_.pop_front();
    const Progress progress = run_block(*resident.block);
    if (progress == Progress::kStopped) return false;
    if (progress == Progress::kWaiting) return report_deadlock(*resident.block, worker_), false;
    if (progress == Progress::kDone) {
      free_.push_back(std::move(resident.block));
      if (resident_.empty() && next_ < blocks_) admit();
      return true;
    }
    resident_.push_back(std::move(resident));
    rest();
    return true;
  }
  void rest() {
    ++rests_;
    if (rests_ % kRestsPerYield == 0) sched_yield();
    if (rests_ % kPatience == 0 && next_ < blocks_ && resident_.size() < kMaxResident) admit();
  }

  const KernelState& kernel_;
  Worker& worker_;
  std::uint64_t blocks_, next_ = 0;
  std::uint32_t rests_ = 0;
  std::deque<Resident> resident_;
  std::vector<std::unique_ptr<Block>> free_;
};

// Blocks in any order: each worker takes the next one.
void run_free_blocks(Block& block, std::uint64_t blocks, std::atomic<std::uint64_t>& next) {
  const PlainArithmetic plain;
  const std::atomic<std::uint64_t>& stop = *block.kernel->stop;
  for (std::uint64_t at = next.fetch_add(1); at < blocks && at < stop.load(); at = next.fetch_add(1)) {
    start_block(block, at);
    Progress progress = Progress::kRested;
    while (progress == Progress::kRested) progress = run_block(block);
    if (progress == Progress::kStopped) return;
    if (progress == Progress::kWaiting) {
      report_deadlock(block, *block.worker);
      stop_behind(block);
      return;
    }
  }
}

void add_counts(Outcome& into, const Outcome& from) {
  into.lane_instructions += from.lane_instructions;
  into.bytes_read += from.bytes_read;
  into.bytes_written += from.bytes_written;
  into.link_bytes_read += from.link_bytes_read;
  into.link_bytes_written += from.link_bytes_written;
}
// The outcome of the first block that failed, and what all have counted.
Outcome combined(const Worker& first, const std::vector<std::unique_ptr<Worker>>& others) {
  const Worker* earliest = &first;
  for (const auto& other : others) {
    if (other->failed_block < earliest->failed_block) earliest = other.get();
  }
  Outcome outcome = earliest->outcome;
  if (earliest != &first) add_counts(outcome, first.outcome);
  for (const auto& other : others) {
    if (earliest != other.get()) add_counts(outcome, other->outcome);
  }
  return outcome;
}
// The first block shows whether the rest is worth another thread.
Outcome run_unordered(const KernelState& kernel, std::uint64_t blocks) {
  const Launch& launch = *kernel.launch;
  const auto first = std::make_unique<Worker>();
  const auto block = make_block(kernel, *first);
  std::atomic<std::uint64_t> next{0};
  run_free_blocks(*block, 1, next);
  next.store(1);
  const bool worthwhile = first->outcome.lane_instructions * (blocks - 1) >= kWorthAThread;
  const std::uint64_t count = worthwhile ? std::min<std::uint64_t>(launch.threads, blocks - 1) : 1;
  std::vector<std::unique_ptr<Worker>> others;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 1; t < count; ++t) {
    others.push_back(std::make_unique<Worker>());
    threads.emplace_back([&kernel, worker = others.back().get(), blocks, &next] {
      run_free_blocks(*make_block(kernel, *worker), blocks, next);
    });
  }
  run_free_blocks(*block, blocks, next);
  for (std::thread& t : threads) t.join();
  return combined(*first, others);
}
Outcome run_blocks(const KernelState& kernel, std::uint64_t blocks, bool ordered) {
  if (!ordered && !kernel.launch->cooperative) return run_unordered(kernel, blocks);
  const auto worker = std::make_unique<Worker>();
  const PlainArithmetic plain;
  OrderedBlocks(kernel, *worker, blocks).run();
  return worker->outcome;
}

}  // namespace

Outcome run_with(const Launch& launch, bool scalars) {
  const auto* program = dynamic_cast<const CompiledProgram*>(launch.program);
  if (program == nullptr || launch.kernel >= program->kernels().size()) return refused("no such kernel");
  const CompiledProgram::Entry& entry = program->entry(launch.kernel);
  const KernelInfo& info = program->kernels()[launch.kernel];
  if (!entry.error.empty()) return refused(entry.error);
  const std::uint64_t threads = product(launch.block), blocks = product(launch.grid);
  if (threads == 0 || threads > kMaxThreads || blocks == 0)
    return refused("a block or grid of a size that cannot be launched");
  if (launch.parameters.size() < info.parameter_bytes) return refused("too few parameters");
  std::atomic<std::uint64_t> stop{~std::uint64_t{0}};
  KernelState kernel;
  kernel.launch = &launch;
  kernel.codes = &program->codes();
  kernel.entry = entry.code;
  kernel.kernels = &program->arithmetic();
  kernel.scalars = scalars;
  kernel.global_addresses = &program->global_addresses();
  kernel.shared_offsets = entry.shared_offsets;
  kernel.shared_bytes = entry.static_shared + launch.dynamic_shared_bytes;
  kernel.local_stride = entry.local_bytes == 0 ? 0 : entry.local_bytes + 64;
  kernel.threads = static_cast<std::uint32_t>(threads);
  kernel.stop = &stop;
  Outcome outcome = run_blocks(kernel, blocks, entry.needs_order);
  if (outcome.kind == OutcomeKind::kDone && launch.cancel != nullptr && launch.cancel->load()) {
    outcome.kind = OutcomeKind::kCancelled;
    outcome.message = "cancelled";
  }
  return outcome;
}

}  // namespace softgpu::engine

namespace softgpu {

Outcome run(const Launch& launch) { return engine::run_with(launch, true); }

}  // namespace softgpu
