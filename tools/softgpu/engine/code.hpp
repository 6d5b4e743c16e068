// What the decoder makes of a function: instructions with their handlers and the slots they work on. Made by
// decode.cpp, run by the handlers. Thread rule: immutable once the program is bound. Failure rule: a function
// with `error` cannot be launched or reached from a launch.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/softgpu/engine/kernels/kernels.hpp"

namespace softgpu::engine {

struct Instruction;
struct Pack;
// Runs one instruction for the current group; returns the next one, or null when the group was put aside.
using Handler = const Instruction* (*)(Pack& pack, const Instruction& instruction);

using SlotId = std::uint32_t;
inline constexpr SlotId kNoSlot = 0xffffffffu;
inline constexpr std::uint32_t kNoTarget = 0xffffffffu;

// Generic addresses of the windows that are no device memory; no real address has these top bits.
inline constexpr std::uint64_t kWindowMask = std::uint64_t{0xff} << 56;
inline constexpr std::uint64_t kSharedWindow = std::uint64_t{0x01} << 56;
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{0x02} << 56;
inline constexpr std::uint64_t kParamWindow = std::uint64_t{0x03} << 56;
inline constexpr std::uint64_t kFunctionWindow = std::uint64_t{0x04} << 56;

enum class Window : std::uint8_t { kGeneric, kGlobal, kShared, kLocal, kParam };

// A slot is what an operand names: a register, or a value that is the same during a launch, block or call.
enum class SlotKind : std::uint8_t {
  kRegister,
  kImmediate,  // value
  kGlobal,     // address of module variable `index` + value
  kShared,     // offset of shared variable `index` + value
  kLocal,      // this call's local memory + value
  kParam,      // kernel parameters + value
  kFunction,   // address of function `index`
  kSpecial,    // special register `index`
  kUnused,     // a register that shares another's slot
};
enum class Special : std::uint32_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneid,
  kWarpid,
  kNwarpid,
  kSmid,
  kNsmid,
  kGridid,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kEnvreg1,
  kEnvreg2,
  kDynamicShared,
  kTotalShared,
  kZero,
  kOne,
};
struct Slot {
  SlotKind kind = SlotKind::kRegister;
  std::uint8_t width = 4;  // bytes of an element; 0: predicate
  std::uint32_t index = 0;
  std::int64_t value = 0;
  bool operator==(const Slot&) const = default;
};

// One decoded instruction. The fields a handler uses are listed with it.
struct Instruction {
  Handler handler = nullptr;
  Handler guarded = nullptr;  // what the guard's handler runs under the narrowed mask
  union {
    Eval eval = nullptr;
    Compare compare;
    const Mover* mover;
  };
  SlotId d = kNoSlot, a = kNoSlot, b = kNoSlot, c = kNoSlot;
  SlotId guard = kNoSlot;
  bool guard_negated = false;
  bool whole = false;       // nothing else reads d's other lanes: the write may ignore the mask
  std::uint8_t weight = 1;  // PTX instructions this stands for
  std::uint8_t widths[4] = {0, 0, 0, 0};
  Affine affine = Affine::kNone;
  Window window = Window::kGeneric;
  std::uint8_t size = 0;   // memory: bytes of an element
  std::uint8_t count = 1;  // memory: elements a lane
  std::uint8_t code = 0;   // atomic operation, vote mode, shuffle mode, logic operation, ...
  bool is_signed = false;
  bool flag = false;  // a handler's own
  std::uint32_t line = 0;
  std::uint32_t target = kNoTarget;                                    // branch: index; call: function
  std::uint32_t extra = 0;                                             // index into Code's side tables
  std::int64_t displacement = 0;                                       // memory
  std::array<SlotId, 4> elements{kNoSlot, kNoSlot, kNoSlot, kNoSlot};  // vectors
  std::uint8_t defines = 0;                                            // bit k: elements[k] is written
};

// Where a call's values lie: offsets in the caller's frame and the callee's.
struct Transfer {
  std::uint32_t from, to, bytes;
};
struct CallSite {
  std::vector<Transfer> arguments;  // caller → callee
  std::vector<Transfer> results;    // callee → caller
  std::uint32_t result_bytes = 0;
  std::vector<std::uint32_t> argument_offsets, result_offsets;  // in the caller's frame
};
struct BranchTable {
  std::vector<std::uint32_t> targets;
};

struct Code {
  std::string name;
  std::string error;  // what it holds that the engine does not know
  bool is_entry = false;
  std::vector<Instruction> instructions;
  std::vector<Slot> slots;
  std::vector<CallSite> calls;
  std::vector<BranchTable> tables;
  std::vector<std::uint32_t> callees;
  std::vector<std::uint32_t> shared_variables;  // used here
  std::vector<std::uint32_t> global_variables;
  bool calls_indirectly = false;
  bool takes_addresses = false;
  // Order-dependent: atomics with effect outside the block, volatile or ordered accesses, printing.
  bool needs_order = false;
  bool prints = false;
  std::uint32_t local_bytes = 0;      // the frame: .local variables, parameters, call areas
  std::uint32_t own_local_bytes = 0;  // of it, .local variables: what is reported
  std::vector<std::uint32_t> parameter_offsets,
      parameter_sizes;  // device functions: in the frame; entries: in the buffer
  std::vector<std::uint32_t> result_offsets, result_sizes;
  std::uint32_t live_registers = 0;
  // Slots that a call, or a block, sets anew: registers that may be read before they are written, addresses
  // in the frame, the block's place in the grid.
  std::vector<SlotId> cleared, framed, placed;
  // For each instruction at which a group may be put aside, where its bits of live registers begin; else
  // kNoTarget.
  std::vector<std::uint32_t> live_rows;
  std::vector<std::uint64_t> live_bits;
  std::uint32_t live_words = 0;
};

}  // namespace softgpu::engine
