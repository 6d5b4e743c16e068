#include "tools/softgpu/driver/graph_exec.hpp"

#include <algorithm>
#include <utility>

#include "tools/softgpu/driver/capture.hpp"
#include "tools/softgpu/driver/graph_memory.hpp"

namespace softgpu {
namespace {

bool is_compute(const ContentsPtr& contents) {
  return std::holds_alternative<KernelNode>(contents->what) ||
         std::holds_alternative<FillNode>(contents->what);
}

void add_steps(const Graph& graph, std::vector<std::vector<ContentsPtr>>* steps) {
  for (const GraphNode* node : graph.in_order()) {
    if (!node->enabled || node->as<EmptyNode>() != nullptr) continue;
    if (const auto* child = node->as<ChildNode>()) {
      add_steps(*child->graph, steps);
      continue;
    }
    const bool joins = is_compute(node->contents) && !steps->empty() && is_compute(steps->back().back());
    if (!joins) steps->emplace_back();
    steps->back().push_back(node->contents);
  }
}

void visit_allocations(const Graph& graph, const std::function<void(GraphAllocation&)>& visit) {
  for (const GraphNodePtr& node : graph.nodes) {
    if (const auto* child = node->as<ChildNode>()) visit_allocations(*child->graph, visit);
    if (const auto* made = node->as<AllocateNode>()) visit(*made->allocation);
  }
}

// What a graph allocated it does not allocate again before that is freed, by whomever.
CUresult begin_allocations(GraphExec& exec) {
  bool live = false;
  const bool frees = (exec.flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
  visit_allocations(*exec.graph, [&](GraphAllocation& allocation) {
    if (frees) allocation.free();
    const bool fresh = allocation.allocate();
    live = live || !fresh;
    if (fresh) allocation.free();
  });
  return live ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult launch_event(const EventNode& node, Stream& stream) {
  const auto event = Events::instance().find(node.event);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  std::unique_lock lock(event->mutex);
  const OperationPtr before = event->record;
  lock.unlock();
  if (node.waits) return before == nullptr ? CUDA_SUCCESS : submit(stream, Work{}, nullptr, {before});
  OperationPtr operation;
  SOFTGPU_TRY(submit(stream, Work{}, &operation));
  lock.lock();
  event->record = std::move(operation);
  return CUDA_SUCCESS;
}

Work work_of_step(const std::vector<ContentsPtr>& step, const std::shared_ptr<Fate>& fate) {
  if (step.size() == 1) return work_of(step.front(), fate);
  std::vector<std::function<void(Progress&)>> bodies;
  bodies.reserve(step.size());
  for (const ContentsPtr& contents : step) bodies.push_back(work_of(contents, fate).body);
  Work work;
  work.engine = EngineKind::kCompute;
  work.body = [bodies = std::move(bodies), fate](Progress& whole) {
    for (const auto& body : bodies) {
      if (fate->cancelled.load()) return;
      Progress part{whole.end, whole.end};
      body(part);
      whole.end = part.end;
    }
  };
  return work;
}

CUresult launch_step(const std::vector<ContentsPtr>& step, Stream& stream) {
  const NodeContents& first = *step.front();
  if (const auto* event = std::get_if<EventNode>(&first.what)) return launch_event(*event, stream);
  if (const auto* made = std::get_if<AllocateNode>(&first.what)) made->allocation->allocate();
  if (const auto* freed = std::get_if<FreeNode>(&first.what))
    return freed->allocation->free() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  return submit(stream, work_of_step(step, stream.queue->fate));
}

CUresult refuse_update(CUgraphExecUpdateResultInfo* info, CUgraphExecUpdateResult why,
                       const GraphNode* node) {
  info->result = why;
  info->errorNode = node == nullptr ? nullptr : handle_of(node);
  return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

bool same_dependencies(const Graph& first, const Graph& second, std::size_t index) {
  const auto place = [](const Graph& graph, const GraphNode* node) {
    return std::find_if(graph.nodes.begin(), graph.nodes.end(),
                        [node](const GraphNodePtr& each) { return each.get() == node; }) -
           graph.nodes.begin();
  };
  const auto& one = first.nodes[index]->dependencies;
  const auto& other = second.nodes[index]->dependencies;
  return std::equal(
      one.begin(), one.end(), other.begin(), other.end(),
      [&](const GraphNode* a, const GraphNode* b) { return place(first, a) == place(second, b); });
}

CUresult compare(const Graph& own, const Graph& other, CUgraphExecUpdateResultInfo* info) {
  if (own.nodes.size() != other.nodes.size())
    return refuse_update(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr);
  for (std::size_t i = 0; i < own.nodes.size(); ++i) {
    const GraphNode& mine = *own.nodes[i];
    const GraphNode& theirs = *other.nodes[i];
    if (mine.type() != theirs.type())
      return refuse_update(info, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, &theirs);
    if (!same_dependencies(own, other, i))
      return refuse_update(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, &theirs);
    if (const auto* child = mine.as<ChildNode>())
      SOFTGPU_TRY(compare(*child->graph, *theirs.as<ChildNode>()->graph, info));
  }
  return CUDA_SUCCESS;
}

void take_over(Graph& own, const Graph& other) {
  for (std::size_t i = 0; i < own.nodes.size(); ++i) {
    if (const auto* child = own.nodes[i]->as<ChildNode>())
      take_over(*child->graph, *other.nodes[i]->as<ChildNode>()->graph);
    else
      own.nodes[i]->contents = other.nodes[i]->contents;
  }
}

}  // namespace

CUresult instantiate(const Graph& graph, unsigned long long flags, GraphExecPtr* result) {
  if (!graph.nodes.empty() && graph.in_order().empty()) return CUDA_ERROR_INVALID_VALUE;
  auto exec = std::make_shared<GraphExec>();
  exec->graph = clone(graph);
  exec->flags = flags;
  for (const GraphNodePtr& node : exec->graph->nodes) exec->own[node->original] = node.get();
  *result = std::move(exec);
  return CUDA_SUCCESS;
}

CUresult update(GraphExec& exec, const Graph& graph, CUgraphExecUpdateResultInfo* info) {
  *info = {};
  if (exec.graph->has_memory_nodes() || graph.has_memory_nodes())
    return refuse_update(info, CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, nullptr);
  SOFTGPU_TRY(compare(*exec.graph, graph, info));
  take_over(*exec.graph, graph);
  exec.stale = true;
  return CUDA_SUCCESS;
}

// One after the other, in one of the orders that the graph allows. Into a stream that is being captured it
// goes as a graph in the graph.
CUresult launch(GraphExec& exec, Stream& stream) {
  bool captured = false;
  GraphPtr child = stream.capture == nullptr ? nullptr : clone(*exec.graph);
  if (child != nullptr) {
    child->is_child = true;
    Graphs::instance().add(child);
  }
  SOFTGPU_TRY(capture_node(stream, contents_of(ChildNode{std::move(child)}), &captured));
  if (captured) return CUDA_SUCCESS;
  SOFTGPU_TRY(begin_allocations(exec));
  if (std::exchange(exec.stale, false)) {
    exec.steps.clear();
    add_steps(*exec.graph, &exec.steps);
  }
  for (const auto& step : exec.steps) SOFTGPU_TRY(launch_step(step, stream));
  return CUDA_SUCCESS;
}

}  // namespace softgpu
