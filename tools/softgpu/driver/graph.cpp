#include "tools/softgpu/driver/graph.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace softgpu {
namespace {

constexpr CUgraphNodeType kTypes[] = {CU_GRAPH_NODE_TYPE_EMPTY,      CU_GRAPH_NODE_TYPE_KERNEL,
                                      CU_GRAPH_NODE_TYPE_MEMCPY,     CU_GRAPH_NODE_TYPE_MEMSET,
                                      CU_GRAPH_NODE_TYPE_HOST,       CU_GRAPH_NODE_TYPE_GRAPH,
                                      CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_MEM_ALLOC,
                                      CU_GRAPH_NODE_TYPE_MEM_FREE,   CU_GRAPH_NODE_TYPE_BATCH_MEM_OP};

ContentsPtr clone(const ContentsPtr& contents) {
  const auto* child = std::get_if<ChildNode>(&contents->what);
  if (child == nullptr) return contents;
  GraphPtr copy = clone(*child->graph);
  copy->is_child = true;
  Graphs::instance().add(copy);
  return contents_of(ChildNode{std::move(copy)});
}

}  // namespace

CUgraphNodeType GraphNode::type() const {
  if (const auto* event = as<EventNode>(); event != nullptr && !event->waits)
    return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  return kTypes[contents->what.index()];
}

Graph::~Graph() {
  for (const GraphNodePtr& node : nodes) {
    if (const auto* child = node->as<ChildNode>()) Graphs::instance().remove(handle_of(child->graph.get()));
    GraphNodes::instance().remove(handle_of(node.get()));
  }
}

GraphNode* Graph::add(ContentsPtr contents, std::vector<GraphNode*> dependencies) {
  auto node = std::make_shared<GraphNode>();
  node->graph = this;
  node->contents = std::move(contents);
  node->dependencies = std::move(dependencies);
  nodes.push_back(node);
  GraphNodes::instance().add(node);
  return nodes.back().get();
}

void Graph::remove(GraphNode* node) {
  for (const GraphNodePtr& other : nodes) std::erase(other->dependencies, node);
  GraphNodes::instance().remove(handle_of(node));
  std::erase_if(nodes, [node](const GraphNodePtr& each) { return each.get() == node; });
}

bool Graph::has(const GraphNode* node) const { return node != nullptr && node->graph == this; }

std::vector<GraphNode*> Graph::in_order() const {
  std::map<const GraphNode*, std::size_t> missing;
  std::map<const GraphNode*, std::vector<GraphNode*>> followers;
  std::vector<GraphNode*> order;
  for (const GraphNodePtr& node : nodes) {
    missing[node.get()] = node->dependencies.size();
    for (const GraphNode* before : node->dependencies) followers[before].push_back(node.get());
    if (node->dependencies.empty()) order.push_back(node.get());
  }
  for (std::size_t i = 0; i < order.size(); ++i)
    for (GraphNode* next : followers[order[i]])
      if (--missing[next] == 0) order.push_back(next);
  if (order.size() != nodes.size()) order.clear();
  return order;
}

bool Graph::has_memory_nodes() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const GraphNodePtr& node) {
    const auto* child = node->as<ChildNode>();
    return node->as<AllocateNode>() != nullptr || node->as<FreeNode>() != nullptr ||
           (child != nullptr && child->graph->has_memory_nodes());
  });
}

GraphPtr clone(const Graph& graph) {
  auto copy = std::make_shared<Graph>();
  std::map<const GraphNode*, GraphNode*> copy_of;
  for (const GraphNodePtr& node : graph.nodes) {
    GraphNode* made = copy->add(clone(node->contents), {});
    made->original = node.get();
    copy_of[node.get()] = made;
  }
  for (const GraphNodePtr& node : graph.nodes)
    for (const GraphNode* before : node->dependencies)
      copy_of[node.get()]->dependencies.push_back(copy_of[before]);
  return copy;
}

}  // namespace softgpu
