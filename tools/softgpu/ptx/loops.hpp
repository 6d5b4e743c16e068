// The steps of make_control_flow_graph() that follow once blocks and edges are known, in this order. Called
// by cfg.cpp alone. Thread rule: one owner. Failure rule: none.
#pragma once

#include "tools/softgpu/ptx/cfg.hpp"

namespace softgpu::ptx {

void find_dominators(ControlFlowGraph& graph);
void find_loops(ControlFlowGraph& graph);
void order_blocks(ControlFlowGraph& graph);

}  // namespace softgpu::ptx
