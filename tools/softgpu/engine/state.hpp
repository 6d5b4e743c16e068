// The state of kernels while they run: registers, frames, groups, packs, blocks. Used by the handlers and the
// scheduler. Thread rule: a block and all in it belong to the thread that runs it. Failure rule: a handler
// that meets a fault puts it into the block's Outcome and stops the pack.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "tools/softgpu/engine/code.hpp"
#include "tools/softgpu/engine/engine.hpp"

namespace softgpu::engine {

// Not the builtin: without hardware support that is a call.
inline std::uint32_t ones_in(std::uint64_t w) {
  w -= (w >> 1) & 0x5555555555555555u;
  w = (w & 0x3333333333333333u) + ((w >> 2) & 0x3333333333333333u);
  return static_cast<std::uint32_t>((((w + (w >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u) >> 56);
}

// 256 lanes, a bit each; halves[h] holds lanes 16h .. 16h+15.
struct alignas(32) Mask {
  std::uint16_t halves[kHalves] = {};

  [[nodiscard]] std::uint64_t word(int i) const {
    std::uint64_t w;
    std::memcpy(&w, reinterpret_cast<const char*>(halves) + static_cast<std::size_t>(i) * 8, 8);
    return w;
  }
  void set_word(int i, std::uint64_t w) {
    std::memcpy(reinterpret_cast<char*>(halves) + static_cast<std::size_t>(i) * 8, &w, 8);
  }
  [[nodiscard]] std::uint32_t warp(int w) const {
    return halves[2 * w] | static_cast<std::uint32_t>(halves[2 * w + 1]) << 16;
  }
  void set_warp(int w, std::uint32_t bits) {
    halves[2 * w] = static_cast<std::uint16_t>(bits);
    halves[2 * w + 1] = static_cast<std::uint16_t>(bits >> 16);
  }
  [[nodiscard]] bool has(int lane) const {
    return (halves[lane / kHalfLanes] >> (lane % kHalfLanes) & 1) != 0;
  }
  void add(int lane) { halves[lane / kHalfLanes] |= static_cast<std::uint16_t>(1u << (lane % kHalfLanes)); }
  [[nodiscard]] bool empty() const { return (word(0) | word(1) | word(2) | word(3)) == 0; }
  [[nodiscard]] int count() const {
    std::uint32_t n = 0;
    for (int i = 0; i < 4; ++i) n += ones_in(word(i));
    return static_cast<int>(n);
  }
  bool operator==(const Mask& other) const { return std::memcmp(halves, other.halves, sizeof halves) == 0; }
};
template <class F>
inline Mask combine(const Mask& a, const Mask& b, F f) {
  Mask result;
  for (int i = 0; i < 4; ++i) result.set_word(i, f(a.word(i), b.word(i)));
  return result;
}
inline Mask operator&(const Mask& a, const Mask& b) {
  return combine(a, b, [](std::uint64_t x, std::uint64_t y) { return x & y; });
}
inline Mask operator|(const Mask& a, const Mask& b) {
  return combine(a, b, [](std::uint64_t x, std::uint64_t y) { return x | y; });
}
inline Mask without(const Mask& a, const Mask& b) {
  return combine(a, b, [](std::uint64_t x, std::uint64_t y) { return x & ~y; });
}
inline int first_lane(const Mask& mask) {
  for (int i = 0; i < 4; ++i) {
    if (mask.word(i) != 0) return i * 64 + __builtin_ctzll(mask.word(i));
  }
  return kLanes;
}
// Calls f(lane) for each lane in order.
template <class F>
inline void for_each_lane(const Mask& mask, F f) {
  for (int i = 0; i < 4; ++i) {
    for (std::uint64_t w = mask.word(i); w != 0; w &= w - 1) f(i * 64 + __builtin_ctzll(w));
  }
}

// A register over a pack. It is held as base[half] + lane * stride, as one element a lane, or as both. A
// predicate uses `predicate` alone.
struct alignas(64) Register {
  // kSame: one value in all lanes. kSpread: `spread` is that of the bases of halves [first, last).
  static constexpr std::uint8_t kAffine = 1, kVector = 2, kSame = 4, kSpread = 8;
  Register() {}  // NOLINT(modernize-use-equals-default): left as it is, take_frame() fills what is read
  union {
    std::uint64_t base[kHalves];  // elements of the register's width, packed
    Mask predicate;
  };
  std::int64_t stride;
  void* vector;
  Spread spread;
  std::uint8_t spread_first, spread_last;
  std::uint8_t state;
  std::uint8_t width;
  std::uint8_t log2_width;

  [[nodiscard]] bool is_affine() const { return (state & kAffine) != 0; }
  // The same value within each half.
  [[nodiscard]] bool is_uniform() const { return (state & kAffine) != 0 && stride == 0; }
};

// One call's registers, for the lanes that made the call together.
struct Frame {
  Frame() = default;
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame();

  const Code* code = nullptr;
  Frame* parent = nullptr;
  const Instruction* call = nullptr;  // in the parent
  Mask lanes;                         // in this call or one made from it
  std::uint32_t depth = 0;
  std::uint32_t function = 0;
  std::uint32_t local_base = 0;  // offset of the frame in each lane's local memory
  std::uint64_t block_serial = 0;
  Register* registers = nullptr;  // in `memory`, the vectors behind them
  std::uint8_t* memory = nullptr;
  std::size_t bytes = 0;
};

// kWarp: for lanes to come to the same instruction. kWarpBarrier: for lanes at any bar.warp.sync.
enum class Waits : std::uint8_t { kNo, kBarrier, kWarp, kWarpBarrier };
// Lanes that are at the same instruction of the same call.
struct Group {
  std::uint32_t at = 0;
  Frame* frame = nullptr;
  Mask mask;
  Waits waits = Waits::kNo;
  bool released = false;  // its barrier has filled
  bool rested = false;    // used up its budget; others first
  std::uint8_t barrier = 0;
  std::uint32_t budget = 0;  // backward branches before others get their turn
};
inline constexpr std::uint32_t kBudget = 4096;

struct Barrier {
  std::uint32_t arrived = 0;
  std::uint32_t expected = 0;  // 0: all live lanes
  std::uint32_t ones = 0;      // lanes that brought a true predicate
  std::uint32_t result_count = 0, result_ones = 0;
};

struct Block;
struct Worker;

struct Pack {
  ~Pack();
  // The current group, unpacked.
  const Instruction* code = nullptr;
  Register* registers = nullptr;
  Frame* frame = nullptr;
  Mask mask;
  bool full = false;     // all lanes that are in this frame
  bool guarded = false;  // the mask is narrowed by a guard
  bool scalars = true;
  std::vector<std::uint64_t> needed;  // registers of this frame that groups put aside may still read
  int first_half = 0, last_half = 0;
  std::uint32_t lanes = 0;
  std::size_t current = 0;

  const Kernels* kernels = nullptr;
  Block* block = nullptr;
  Worker* worker = nullptr;
  int index = 0;   // in the block: lanes start at thread index * 256
  int halves = 0;  // that have threads
  Mask live;
  std::vector<Group> groups;
  std::vector<std::vector<std::unique_ptr<Frame>>> free_frames;  // by function
  std::uint8_t* local = nullptr;                                 // lane * local_stride
  std::size_t local_mapped = 0;
};

struct KernelState;

struct Block {
  const KernelState* kernel = nullptr;
  Worker* worker = nullptr;
  std::uint64_t serial = 0;
  std::uint64_t linear = 0;
  std::array<std::uint32_t, 3> id{};
  std::vector<std::unique_ptr<Pack>> packs;
  std::vector<std::uint8_t> shared;
  std::uint32_t live = 0;
  std::array<Barrier, 16> barriers{};
  bool stopped = false;  // by a fault, or the launch was cancelled
};

// One launch, as all its workers see it.
struct KernelState {
  const Launch* launch = nullptr;
  const std::vector<Code>* codes = nullptr;
  std::size_t entry = 0;
  const Kernels* kernels = nullptr;
  bool scalars = true;  // keep registers as base and stride where possible
  const std::vector<std::uint64_t>* global_addresses = nullptr;
  std::vector<std::uint32_t> shared_offsets;  // by shared variable
  std::uint32_t shared_bytes = 0;
  std::uint32_t local_stride = 0;
  std::uint32_t threads = 0;
  std::atomic<std::uint64_t>* stop = nullptr;  // blocks behind this one need not run: it failed
};

// What one thread gathers while it runs blocks.
struct Worker {
  Outcome outcome;
  std::uint64_t next_serial = 1;
  std::uint64_t failed_block = ~std::uint64_t{0};
  alignas(64) std::uint8_t scratch[4][kLanes * 8];
};

// Notes that the block failed. Of several failed blocks the first one counts, whoever ran it.
void stop_behind(const Block& block);

// Ends the launch with this outcome unless it has one. Returns null, for handlers to return.
const Instruction* fail(Pack& pack, const Instruction& instruction, OutcomeKind kind, std::string message);
const Instruction* fail_access(Pack& pack, const Instruction& instruction, OutcomeKind kind,
                               std::uint64_t address, bool write);

// How far a pack or block got.
enum class Progress : std::uint8_t { kDone, kRested, kWaiting, kStopped };
// scheduler.cpp
Progress run_pack(Pack& pack);
Progress run_block(Block& block);
void start_block(Block& block, std::uint64_t linear);
// Makes the group's frame and place the current ones.
const Instruction* resume(Pack& pack, std::size_t group);
inline Group& current_group(Pack& pack) { return pack.groups[pack.current]; }
inline std::uint32_t index_of(const Pack& pack, const Instruction& i) {
  return static_cast<std::uint32_t>(&i - pack.code);
}
// Notes what the groups put aside may still read (scheduler.cpp).
void note_needed(Pack& pack);
// Puts the current group aside at the instruction; returns null for handlers to return.
inline const Instruction* put_aside(Pack& pack, const Instruction& i) {
  current_group(pack).at = index_of(pack, i);
  return nullptr;
}
// frames.cpp
Frame* take_frame(Pack& pack, std::uint32_t function, Frame* parent, const Mask& lanes);
void give_back(Pack& pack, Frame* frame);
// The frame's local memory, of the lanes that are in it.
void clear_local(Pack& pack, const Frame& frame, std::uint32_t bytes);
// Removes lanes from the pack, its frames and the counts of its block.
void end_lanes(Pack& pack, const Mask& lanes);
// barrier.cpp: releases barriers that the departure of lanes has filled.
void recheck_barriers(Block& block);

// Makes the mask the current one (predicate.cpp).
void narrow_to(Pack& pack, const Mask& mask);

inline Register& reg(Pack& pack, SlotId slot) { return pack.registers[slot]; }
// All lanes' elements; computes them if the register is held as base and stride.
inline void* vector_of(Pack& pack, Register& r) {
  if ((r.state & Register::kVector) == 0) {
    pack.kernels->expand[r.log2_width](r.vector, r.base, r.stride, pack.halves);
    r.state |= Register::kVector;
  }
  return r.vector;
}
// Where to write all lanes' elements. With a partial mask write to scratch and commit().
inline bool writes_whole(const Pack& pack, const Instruction& i, const Register& d) {
  if (pack.full || i.whole) return true;
  if (pack.guarded || !pack.scalars) return false;
  const auto slot = static_cast<std::size_t>(&d - pack.registers);
  return (pack.needed[slot / 64] >> (slot % 64) & 1) == 0;
}
inline void* target_of(Pack& pack, const Instruction& i, Register& d) {
  return writes_whole(pack, i, d) ? d.vector : pack.worker->scratch[3];
}
inline void commit(Pack& pack, const Instruction& i, Register& d) {
  if (!writes_whole(pack, i, d)) {
    vector_of(pack, d);
    pack.kernels->blend[d.log2_width](d.vector, pack.worker->scratch[3], pack.mask.halves, pack.halves);
  }
  d.state = Register::kVector;
}
// May the result be kept as base and stride?
inline bool writes_scalar(const Pack& pack, const Instruction& i, const Register& d) {
  return pack.scalars && writes_whole(pack, i, d);
}
// `sources` is the conjunction of their states: what is made of values that are the same everywhere is so
// too.
inline void set_uniform(Register& d, std::uint8_t sources = 0) {
  d.state = static_cast<std::uint8_t>(Register::kAffine | (sources & Register::kSame));
  d.stride = 0;
}
inline void write_predicate(Pack& pack, const Instruction& i, Register& d, const Mask& value) {
  d.predicate = writes_whole(pack, i, d) ? value : without(d.predicate, pack.mask) | (value & pack.mask);
}

namespace handlers {
// elementwise.cpp: any instruction with an eval, lane by lane.
const Instruction* evaluate_lanes(Pack& pack, const Instruction& i);
}  // namespace handlers

}  // namespace softgpu::engine
