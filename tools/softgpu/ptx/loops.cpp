#include "tools/softgpu/ptx/loops.hpp"

#include <algorithm>
#include <numeric>

namespace softgpu::ptx {
namespace {

// Depth first from `root` over the nodes that `next(node)` lists; the nodes as they are left.
template <class Next>
std::vector<std::uint32_t> postorder(std::uint32_t root, std::vector<bool>& seen, Next next) {
  struct Visit {
    std::uint32_t node;
    std::vector<std::uint32_t> successors;
  };
  std::vector<std::uint32_t> left;
  std::vector<Visit> stack;
  seen[root] = true;
  stack.push_back({root, next(root)});
  while (!stack.empty()) {
    if (stack.back().successors.empty()) {
      left.push_back(stack.back().node);
      stack.pop_back();
      continue;
    }
    const std::uint32_t node = stack.back().successors.back();
    stack.back().successors.pop_back();
    if (seen[node]) continue;
    seen[node] = true;
    stack.push_back({node, next(node)});
  }
  return left;
}

// A walk up from two blocks until they meet (Cooper, Harvey and Kennedy).
BlockId common_dominator(const std::vector<BlockId>& dominator, const std::vector<std::uint32_t>& number,
                         BlockId a, BlockId b) {
  while (a != b) {
    while (number[a] < number[b]) a = dominator[a];
    while (number[b] < number[a]) b = dominator[b];
  }
  return a;
}

bool dominates(const ControlFlowGraph& graph, BlockId above, BlockId block) {
  while (block != above && block != kNoIndex) block = graph.immediate_dominator[block];
  return block == above;
}

// The blocks from which `from` is reached without passing the loop's header.
void add_body(const ControlFlowGraph& graph, BlockId from, BlockId header, std::vector<bool>& member) {
  std::vector<BlockId> work{from};
  member[header] = true;
  while (!work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    if (member[block] || !graph.blocks[block].is_reachable) continue;
    member[block] = true;
    const std::vector<BlockId>& predecessors = graph.blocks[block].predecessors;
    work.insert(work.end(), predecessors.begin(), predecessors.end());
  }
}

// Without blocks where none of the edges to `header` comes from below it.
Loop find_loop_at(const ControlFlowGraph& graph, BlockId header) {
  Loop loop;
  loop.header = header;
  std::vector<BlockId> back;
  for (const BlockId from : graph.blocks[header].predecessors) {
    if (graph.blocks[from].is_reachable && dominates(graph, header, from)) back.push_back(from);
  }
  if (back.empty()) return loop;
  std::vector<bool> member(graph.blocks.size(), false);
  for (const BlockId from : back) add_body(graph, from, header, member);
  for (BlockId block = 0; block < member.size(); ++block) {
    if (member[block]) loop.blocks.push_back(block);
  }
  return loop;
}

// Orders the blocks of one loop, or of the function: an inner loop counts as a single node until it is its
// turn.
class BlockOrder {
 public:
  explicit BlockOrder(ControlFlowGraph& graph) : graph_(graph), seen_(graph.blocks.size()) {}

  void add_region(std::uint32_t loop, BlockId header) {
    for (const BlockId node : region_order(loop, header)) {
      const std::uint32_t inner = loop_below(loop, node);
      if (inner == kNoIndex) {
        graph_.order.push_back(node);
      } else {
        add_region(inner, node);
      }
    }
  }

 private:
  // The loop directly inside `loop` that has the block; kNoIndex where the block is its own node.
  [[nodiscard]] std::uint32_t loop_below(std::uint32_t loop, BlockId block) const {
    std::uint32_t inner = graph_.blocks[block].loop;
    if (inner == loop) return kNoIndex;
    while (graph_.loops[inner].parent != loop) inner = graph_.loops[inner].parent;
    return inner;
  }
  [[nodiscard]] bool is_inside(std::uint32_t loop, BlockId block) const {
    for (std::uint32_t at = graph_.blocks[block].loop; at != loop; at = graph_.loops[at].parent) {
      if (at == kNoIndex) return false;
    }
    return true;
  }
  [[nodiscard]] BlockId node_of(std::uint32_t loop, BlockId block) const {
    const std::uint32_t inner = loop_below(loop, block);
    return inner == kNoIndex ? block : graph_.loops[inner].header;
  }
  void add_successors(std::uint32_t loop, BlockId block, std::vector<BlockId>& to) const {
    for (const BlockId successor : graph_.blocks[block].successors) {
      if (is_inside(loop, successor)) to.push_back(node_of(loop, successor));
    }
  }

  std::vector<BlockId> region_order(std::uint32_t loop, BlockId header) {
    std::vector<BlockId> order = postorder(header, seen_, [&](BlockId node) {
      std::vector<BlockId> successors;
      const std::uint32_t inner = loop_below(loop, node);
      if (inner == kNoIndex) {
        add_successors(loop, node, successors);
      } else {
        for (const BlockId block : graph_.loops[inner].blocks) add_successors(loop, block, successors);
      }
      std::ranges::sort(successors);  // the last in PTX order is left first and so comes last
      return successors;
    });
    for (const BlockId node : order) seen_[node] = false;
    std::ranges::reverse(order);
    return order;
  }

  ControlFlowGraph& graph_;
  std::vector<bool> seen_;
};

}  // namespace

void find_dominators(ControlFlowGraph& graph) {
  std::vector<bool> seen(graph.blocks.size(), false);
  const std::vector<BlockId> order =
      postorder(0, seen, [&](BlockId block) { return graph.blocks[block].successors; });
  std::vector<std::uint32_t> number(graph.blocks.size(), 0);
  for (std::uint32_t i = 0; i < order.size(); ++i) number[order[i]] = i;
  for (const BlockId block : order) graph.blocks[block].is_reachable = true;
  std::vector<BlockId>& dominator = graph.immediate_dominator;
  dominator.assign(graph.blocks.size(), kNoIndex);
  dominator[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto block = order.rbegin() + 1; block < order.rend(); ++block) {
      BlockId meet = kNoIndex;
      for (const BlockId from : graph.blocks[*block].predecessors) {
        if (dominator[from] == kNoIndex) continue;
        meet = meet == kNoIndex ? from : common_dominator(dominator, number, from, meet);
      }
      changed = changed || dominator[*block] != meet;
      dominator[*block] = meet;
    }
  }
  dominator[0] = kNoIndex;
}

void find_loops(ControlFlowGraph& graph) {
  for (BlockId block = 0; block < graph.blocks.size(); ++block) {
    if (!graph.blocks[block].is_reachable) continue;
    Loop loop = find_loop_at(graph, block);
    if (!loop.blocks.empty()) graph.loops.push_back(std::move(loop));
  }
  // Natural loops with different headers are apart or one within the other: the larger one is outside.
  std::ranges::stable_sort(graph.loops, std::greater<>{},
                           [](const Loop& loop) { return loop.blocks.size(); });
  for (std::uint32_t i = 0; i < graph.loops.size(); ++i) {
    graph.loops[i].parent = graph.blocks[graph.loops[i].header].loop;
    for (const BlockId block : graph.loops[i].blocks) graph.blocks[block].loop = i;
  }
}

void order_blocks(ControlFlowGraph& graph) {
  graph.order.reserve(graph.blocks.size());
  BlockOrder(graph).add_region(kNoIndex, 0);
  for (BlockId block = 0; block < graph.blocks.size(); ++block) {
    if (!graph.blocks[block].is_reachable) graph.order.push_back(block);
  }
}

}  // namespace softgpu::ptx
