// The control-flow graph of a function: its basic blocks, its loops, and an order of the blocks in which
// lanes that parted meet again soonest when the first block goes first. Called by the engine's decoder and
// the other analyses. Thread rule: pure. Failure rule: none; what cannot be reached is kept, at the end of
// the order.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/softgpu/ptx/module.hpp"

namespace softgpu::ptx {

using BlockId = std::uint32_t;

struct BasicBlock {
  std::uint32_t begin = 0, end = 0;  // instructions of the body
  std::vector<BlockId> successors;   // without doubles; an unguarded fall-through off the end has none
  std::vector<BlockId> predecessors;
  std::uint32_t loop = kNoIndex;  // the innermost
  bool is_reachable = false;
};

// A natural loop: entered at its header alone. A cycle with two entries is none.
struct Loop {
  BlockId header = 0;
  std::uint32_t parent = kNoIndex;  // comes before it in the list
  std::vector<BlockId> blocks;      // in PTX order, those of inner loops among them
};

struct ControlFlowGraph {
  std::vector<BasicBlock> blocks;            // in PTX order; 0 is entered first
  std::vector<BlockId> block_of;             // by instruction
  std::vector<BlockId> order;                // all blocks: reverse postorder, each loop without a gap
  std::vector<BlockId> immediate_dominator;  // kNoIndex for the first and for unreachable ones
  std::vector<Loop> loops;                   // outer before inner
};

[[nodiscard]] ControlFlowGraph make_control_flow_graph(const Function& function);

}  // namespace softgpu::ptx
