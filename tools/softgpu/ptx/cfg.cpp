#include "tools/softgpu/ptx/cfg.hpp"

#include <algorithm>

#include "tools/softgpu/ptx/loops.hpp"
#include "tools/softgpu/ptx/operand_roles.hpp"

namespace softgpu::ptx {
namespace {

// Calls f(target instruction) for each target of a branch.
template <class F>
void for_each_target(const Instruction& branch, F f) {
  const Operand& last = branch.operands.back();
  if (last.kind == Operand::Kind::kLabel) f(last.target);
  for (const Operand& element : last.elements) f(element.target);
}

std::vector<bool> find_leaders(const std::vector<Instruction>& body) {
  std::vector<bool> leaders(body.size() + 1, false);
  leaders[0] = true;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (is_branch(body[i])) {
      for_each_target(body[i], [&](std::uint32_t target) { leaders[target] = true; });
      leaders[i + 1] = true;
    } else if (ends_flow(body[i])) {
      leaders[i + 1] = true;
    }
  }
  return leaders;
}

void cut_into_blocks(const std::vector<Instruction>& body, ControlFlowGraph& graph) {
  const std::vector<bool> leaders = find_leaders(body);
  graph.block_of.resize(body.size());
  for (std::uint32_t i = 0; i < body.size(); ++i) {
    if (leaders[i]) graph.blocks.emplace_back().begin = i;
    graph.block_of[i] = static_cast<BlockId>(graph.blocks.size() - 1);
    graph.blocks.back().end = i + 1;
  }
}

void connect(ControlFlowGraph& graph, BlockId from, std::uint32_t instruction) {
  if (instruction >= graph.block_of.size()) return;  // off the end: an implicit return
  const BlockId to = graph.block_of[instruction];
  std::vector<BlockId>& successors = graph.blocks[from].successors;
  if (std::ranges::find(successors, to) != successors.end()) return;
  successors.push_back(to);
  graph.blocks[to].predecessors.push_back(from);
}

void connect_blocks(const std::vector<Instruction>& body, ControlFlowGraph& graph) {
  for (BlockId block = 0; block < graph.blocks.size(); ++block) {
    const std::uint32_t end = graph.blocks[block].end;
    const Instruction& last = body[end - 1];
    if (!ends_flow(last)) connect(graph, block, end);
    if (is_branch(last)) for_each_target(last, [&](std::uint32_t target) { connect(graph, block, target); });
  }
}

}  // namespace

ControlFlowGraph make_control_flow_graph(const Function& function) {
  ControlFlowGraph graph;
  if (function.body.empty()) return graph;
  cut_into_blocks(function.body, graph);
  connect_blocks(function.body, graph);
  find_dominators(graph);
  find_loops(graph);
  order_blocks(graph);
  return graph;
}

}  // namespace softgpu::ptx
