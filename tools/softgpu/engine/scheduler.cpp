// Which group, pack and block runs next. Everything here counts instructions, never time, so the order is
// the same in every run.
#include <fmt/format.h>
#include <sys/mman.h>

#include "tools/softgpu/engine/handlers.hpp"
#include "tools/softgpu/engine/state.hpp"

namespace softgpu::engine {
namespace {

bool comes_before(const Group& a, const Group& b) {
  if (a.frame->depth != b.frame->depth) return a.frame->depth > b.frame->depth;
  return a.at < b.at;
}
bool runnable(const Group& group) { return group.waits == Waits::kNo && !group.rested; }

// The deepest and then least advanced group, so that lanes meet again as early as they can.
std::size_t choose(const Pack& pack) {
  std::size_t best = pack.groups.size();
  for (std::size_t g = 0; g < pack.groups.size(); ++g) {
    if (!runnable(pack.groups[g])) continue;
    if (best == pack.groups.size() || comes_before(pack.groups[g], pack.groups[best])) best = g;
  }
  return best;
}
void merge_into(Pack& pack, std::size_t chosen) {
  for (std::size_t g = pack.groups.size(); g-- > chosen + 1;) {
    Group& into = pack.groups[chosen];
    const Group& other = pack.groups[g];
    if (!runnable(other) || other.at != into.at || other.frame != into.frame ||
        other.released != into.released)
      continue;
    into.mask = into.mask | other.mask;
    into.budget = into.budget < other.budget ? into.budget : other.budget;
    pack.groups.erase(pack.groups.begin() + static_cast<std::ptrdiff_t>(g));
  }
}
Progress progress_of(Pack& pack) {
  if (pack.groups.empty()) return Progress::kDone;
  bool rested = false;
  for (Group& group : pack.groups) {
    rested |= group.rested;
    group.rested = false;
  }
  return rested ? Progress::kRested : Progress::kWaiting;
}
void run_group(Pack& pack, const Instruction* next) {
  std::uint64_t executed = 0;
  while (next != nullptr) {
    executed += std::uint64_t{pack.lanes} * next->weight;
    next = next->handler(pack, *next);
  }
  pack.worker->outcome.lane_instructions += executed;
}
bool cancelled(const Block& block) {
  const Launch& launch = *block.kernel->launch;
  return (launch.cancel != nullptr && launch.cancel->load(std::memory_order_relaxed)) ||
         block.linear > block.kernel->stop->load(std::memory_order_relaxed);
}
void start_pack(Pack& pack) {
  const Block& block = *pack.block;
  pack.groups.clear();
  pack.live = {};
  const int threads = static_cast<int>(block.kernel->threads) - pack.index * kLanes;
  pack.halves = std::min((threads + kHalfLanes - 1) / kHalfLanes, kHalves);
  for (int h = 0; h < pack.halves; ++h) {
    const int lanes = std::min(threads - h * kHalfLanes, kHalfLanes);
    pack.live.halves[h] = static_cast<std::uint16_t>((1u << lanes) - 1);
  }
  const Code& code = (*block.kernel->codes)[block.kernel->entry];
  Frame* frame = take_frame(pack, static_cast<std::uint32_t>(block.kernel->entry), nullptr, pack.live);
  clear_local(pack, *frame, code.local_bytes);
  Group group;
  group.frame = frame;
  group.mask = pack.live;
  group.budget = kBudget;
  pack.groups.push_back(group);
}
std::unique_ptr<Pack> make_pack(Block& block, int index) {
  auto pack = std::make_unique<Pack>();
  pack->index = index;
  pack->block = &block;
  pack->worker = block.worker;
  pack->kernels = block.kernel->kernels;
  pack->scalars = block.kernel->scalars;
  pack->free_frames.resize(block.kernel->codes->size());
  pack->local_mapped = std::size_t{block.kernel->local_stride} * kLanes;
  if (pack->local_mapped != 0) {
    void* memory = mmap(nullptr, pack->local_mapped, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    pack->local = memory == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(memory);
  }
  return pack;
}

}  // namespace

Pack::~Pack() {
  if (local != nullptr) munmap(local, local_mapped);
}

// Where the group will go on in the frame; kNoTarget if it is not in it.
static std::uint32_t place_in_frame(const Group& group, const Frame* frame) {
  if (group.frame == frame) return group.at;
  for (const Frame* f = group.frame; f->parent != nullptr; f = f->parent) {
    if (f->parent == frame) return static_cast<std::uint32_t>(f->call - frame->code->instructions.data()) + 1;
  }
  return kNoTarget;
}
void note_needed(Pack& pack) {
  const Code& code = *pack.frame->code;
  pack.needed.assign(code.live_words, 0);
  for (std::size_t g = 0; g < pack.groups.size(); ++g) {
    const std::uint32_t at = g == pack.current ? kNoTarget : place_in_frame(pack.groups[g], pack.frame);
    if (at == kNoTarget) continue;
    const std::uint32_t row = code.live_rows[at];
    for (std::uint32_t w = 0; w < code.live_words; ++w) {
      pack.needed[w] |= row == kNoTarget ? ~std::uint64_t{0} : code.live_bits[row + w];
    }
  }
}

const Instruction* resume(Pack& pack, std::size_t index) {
  Group& group = pack.groups[index];
  pack.current = index;
  pack.frame = group.frame;
  pack.code = group.frame->code->instructions.data();
  pack.registers = group.frame->registers;
  narrow_to(pack, group.mask);
  if (!pack.full) note_needed(pack);
  const Instruction* next = pack.code + group.at;
  return next->handler == handlers::join ? next + 1 : next;
}

Progress run_pack(Pack& pack) {
  while (!pack.block->stopped) {
    const std::size_t chosen = choose(pack);
    if (chosen == pack.groups.size()) return progress_of(pack);
    merge_into(pack, chosen);
    if (pack.groups[chosen].budget == 0) pack.groups[chosen].budget = kBudget;
    run_group(pack, resume(pack, chosen));
  }
  return Progress::kStopped;
}

Progress run_block(Block& block) {
  bool rested = true;
  while (rested) {
    rested = false;
    bool done = true, moved = false;
    for (auto& pack : block.packs) {
      if (pack->groups.empty()) continue;
      const std::uint64_t before = block.worker->outcome.lane_instructions;
      const Progress progress = run_pack(*pack);
      if (progress == Progress::kStopped || cancelled(block)) return Progress::kStopped;
      done &= progress == Progress::kDone;
      rested |= progress == Progress::kRested;
      moved |= block.worker->outcome.lane_instructions != before;
    }
    if (done) return Progress::kDone;
    if (rested) return Progress::kRested;
    if (!moved) return Progress::kWaiting;
    rested = true;
  }
  return Progress::kDone;
}

void start_block(Block& block, std::uint64_t linear) {
  block.serial = block.worker->next_serial++;
  const KernelState& kernel = *block.kernel;
  const auto& grid = kernel.launch->grid;
  block.linear = linear;
  block.id = {static_cast<std::uint32_t>(linear % grid[0]),
              static_cast<std::uint32_t>(linear / grid[0] % grid[1]),
              static_cast<std::uint32_t>(linear / grid[0] / grid[1])};
  block.live = kernel.threads;
  block.barriers = {};
  block.shared.assign(kernel.shared_bytes, 0xff);
  const int packs = static_cast<int>((kernel.threads + kLanes - 1) / kLanes);
  while (static_cast<int>(block.packs.size()) < packs) {
    block.packs.push_back(make_pack(block, static_cast<int>(block.packs.size())));
  }
  for (auto& pack : block.packs) start_pack(*pack);
}

void stop_behind(const Block& block) {
  std::atomic<std::uint64_t>& stop = *block.kernel->stop;
  std::uint64_t seen = stop.load();
  while (block.linear < seen && !stop.compare_exchange_weak(seen, block.linear)) {
  }
  block.worker->failed_block = block.linear;
}
const Instruction* fail(Pack& pack, const Instruction& i, OutcomeKind kind, std::string message) {
  Outcome& outcome = pack.worker->outcome;
  pack.block->stopped = true;
  stop_behind(*pack.block);
  if (outcome.kind != OutcomeKind::kDone) return nullptr;
  outcome.kind = kind;
  outcome.line = i.line;
  outcome.message = std::move(message);
  return nullptr;
}
const Instruction* fail_access(Pack& pack, const Instruction& i, OutcomeKind kind, std::uint64_t address,
                               bool write) {
  const Block& block = *pack.block;
  fail(pack, i, kind,
       fmt::format("{} {} of address {:#x} in {} at PTX line {}, block ({}, {}, {})",
                   kind == OutcomeKind::kMisaligned ? "misaligned" : "illegal", write ? "write" : "read",
                   address, pack.frame->code->name, i.line, block.id[0], block.id[1], block.id[2]));
  Outcome& outcome = pack.worker->outcome;
  outcome.fault_address = address;
  outcome.fault_is_write = write;
  return nullptr;
}

}  // namespace softgpu::engine
