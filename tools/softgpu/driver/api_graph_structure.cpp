// What a graph consists of, and what follows what in it. Ports and kinds of edges are those of a plain edge.
#include <algorithm>
#include <utility>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/graph_parameters.hpp"

namespace softgpu::api {
namespace {

using Nodes = std::vector<const GraphNode*>;
using Edges = std::vector<std::pair<const GraphNode*, const GraphNode*>>;

Edges edges_of(const Graph& graph) {
  Edges edges;
  for (const GraphNodePtr& node : graph.nodes)
    for (const GraphNode* before : node->dependencies) edges.emplace_back(before, node.get());
  return edges;
}

// As much as there is place for; the rest of it null. Without a place: how many there are.
CUresult hand_out(const Nodes& nodes, CUgraphNode* place, CUgraphEdgeData* edge_data, std::size_t* count) {
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (place != nullptr) {
    for (std::size_t i = 0; i < *count; ++i) {
      place[i] = i < nodes.size() ? handle_of(nodes[i]) : nullptr;
      if (edge_data != nullptr) edge_data[i] = {};
    }
    *count = std::min(*count, nodes.size());
    return CUDA_SUCCESS;
  }
  *count = nodes.size();
  return CUDA_SUCCESS;
}

bool is_plain(const CUgraphEdgeData* edges, std::size_t count) {
  return edges == nullptr || std::all_of(edges, edges + count, [](const CUgraphEdgeData& edge) {
           return edge.from_port == 0 && edge.to_port == 0 && edge.type == 0;
         });
}

// Both ends of an edge, nodes of the graph.
CUresult find_edge(const Graph& graph, CUgraphNode from, CUgraphNode to, GraphNode** before,
                   GraphNode** after) {
  GraphNodePtr first;
  GraphNodePtr second;
  SOFTGPU_TRY(find_node(from, &first));
  SOFTGPU_TRY(find_node(to, &second));
  *before = first.get();
  *after = second.get();
  return graph.has(*before) && graph.has(*after) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult change_edges(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, std::size_t count,
                      bool add) {
  GraphPtr graph;
  SOFTGPU_TRY(find_graph(handle, &graph));
  if (count > 0 && (from == nullptr || to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    GraphNode* before = nullptr;
    GraphNode* after = nullptr;
    SOFTGPU_TRY(find_edge(*graph, from[i], to[i], &before, &after));
    auto& dependencies = after->dependencies;
    const auto found = std::find(dependencies.begin(), dependencies.end(), before);
    if ((found == dependencies.end()) != add || before == after) return CUDA_ERROR_INVALID_VALUE;
    if (add)
      dependencies.push_back(before);
    else
      dependencies.erase(found);
  }
  return CUDA_SUCCESS;
}

Nodes followers_of(const GraphNode& node) {
  Nodes followers;
  for (const auto& [before, after] : edges_of(*node.graph))
    if (before == &node) followers.push_back(after);
  return followers;
}

}  // namespace

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode* nodes, std::size_t* numNodes) {
  GraphPtr graph;
  SOFTGPU_TRY(find_graph(hGraph, &graph));
  Nodes all;
  for (const GraphNodePtr& node : graph->nodes) all.push_back(node.get());
  return hand_out(all, nodes, nullptr, numNodes);
}

CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode* rootNodes, std::size_t* numRootNodes) {
  GraphPtr graph;
  SOFTGPU_TRY(find_graph(hGraph, &graph));
  Nodes roots;
  for (const GraphNodePtr& node : graph->nodes)
    if (node->dependencies.empty()) roots.push_back(node.get());
  return hand_out(roots, rootNodes, nullptr, numRootNodes);
}

CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edgeData,
                            std::size_t* numEdges) {
  GraphPtr graph;
  SOFTGPU_TRY(find_graph(hGraph, &graph));
  if ((from == nullptr) != (to == nullptr) || numEdges == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Nodes begins;
  Nodes ends;
  for (const auto& [before, after] : edges_of(*graph)) {
    begins.push_back(before);
    ends.push_back(after);
  }
  std::size_t room = *numEdges;
  SOFTGPU_TRY(hand_out(begins, from, edgeData, numEdges));
  return to == nullptr ? CUDA_SUCCESS : hand_out(ends, to, nullptr, &room);
}

CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, std::size_t* numEdges) {
  return api::cuGraphGetEdges_v2(hGraph, from, to, nullptr, numEdges);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode* dependencies,
                                       CUgraphEdgeData* edgeData, std::size_t* numDependencies) {
  GraphNodePtr node;
  SOFTGPU_TRY(find_node(hNode, &node));
  return hand_out({node->dependencies.begin(), node->dependencies.end()}, dependencies, edgeData,
                  numDependencies);
}

CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode* dependencies,
                                    std::size_t* numDependencies) {
  return api::cuGraphNodeGetDependencies_v2(hNode, dependencies, nullptr, numDependencies);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                         CUgraphEdgeData* edgeData, std::size_t* numDependentNodes) {
  GraphNodePtr node;
  SOFTGPU_TRY(find_node(hNode, &node));
  return hand_out(followers_of(*node), dependentNodes, edgeData, numDependentNodes);
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                      std::size_t* numDependentNodes) {
  return api::cuGraphNodeGetDependentNodes_v2(hNode, dependentNodes, nullptr, numDependentNodes);
}

CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* edgeData, std::size_t numDependencies) {
  if (!is_plain(edgeData, numDependencies)) return refuse("edges with ports between the nodes of a graph");
  return change_edges(hGraph, from, to, numDependencies, true);
}

CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                std::size_t numDependencies) {
  return change_edges(hGraph, from, to, numDependencies, true);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData* edgeData, std::size_t numDependencies) {
  if (!is_plain(edgeData, numDependencies)) return CUDA_ERROR_INVALID_VALUE;
  return change_edges(hGraph, from, to, numDependencies, false);
}

CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                   std::size_t numDependencies) {
  return change_edges(hGraph, from, to, numDependencies, false);
}

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType* type) {
  GraphNodePtr node;
  SOFTGPU_TRY(find_node(hNode, &node));
  if (type == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *type = node->type();
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroyNode(CUgraphNode hNode) {
  GraphNodePtr node;
  SOFTGPU_TRY(find_node(hNode, &node));
  if (node->as<AllocateNode>() != nullptr || node->as<FreeNode>() != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  node->graph->remove(node.get());
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeFindInClone(CUgraphNode* phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph) {
  GraphPtr graph;
  SOFTGPU_TRY(find_graph(hClonedGraph, &graph));
  GraphNodePtr original;
  SOFTGPU_TRY(find_node(hOriginalNode, &original));
  if (phNode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (const GraphNodePtr& node : graph->nodes) {
    if (node->original != original.get()) continue;
    *phNode = handle_of(node.get());
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph* phGraph) {
  GraphNodePtr node;
  SOFTGPU_TRY(find_node(hNode, &node));
  const auto* child = node->as<ChildNode>();
  if (child == nullptr || phGraph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *phGraph = handle_of(child->graph.get());
  return CUDA_SUCCESS;
}

}  // namespace softgpu::api
