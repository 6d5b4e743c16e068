// Between what the API says of a node and what the node does; and the handles of graphs and nodes. Called by
// the graph entry points. Thread rule: as CUDA's: one thread at a time per graph. Failure rule: CUresult,
// with nothing changed.
#pragma once

#include <cuda.h>

#include <vector>

#include "tools/softgpu/driver/graph_exec.hpp"

namespace softgpu {

CUresult find_graph(CUgraph handle, GraphPtr* graph);
CUresult find_node(CUgraphNode handle, GraphNodePtr* node);
CUresult find_exec(CUgraphExec handle, GraphExecPtr* exec);
// Nodes of this graph, none twice.
CUresult find_dependencies(const Graph& graph, const CUgraphNode* handles, std::size_t count,
                           std::vector<GraphNode*>* nodes);

// What a node of each kind does, by its parameters.
CUresult contents_of(const CUDA_KERNEL_NODE_PARAMS_v2* parameters, ContentsPtr* contents);
CUresult contents_of(const CUDA_MEMCPY3D* parameters, ContentsPtr* contents);
CUresult contents_of(const CUDA_MEMSET_NODE_PARAMS_v1* parameters, ContentsPtr* contents);
CUresult contents_of(const CUDA_HOST_NODE_PARAMS_v1* parameters, ContentsPtr* contents);
CUresult contents_of_child(CUgraph graph, ContentsPtr* contents);
CUresult contents_of_event(CUevent event, bool waits, ContentsPtr* contents);
CUresult contents_of_allocation(CUDA_MEM_ALLOC_NODE_PARAMS* parameters, ContentsPtr* contents);
CUresult contents_of_free(CUdeviceptr address, ContentsPtr* contents);
// Of whatever kind; an allocation's address is written into the parameters.
CUresult contents_of(CUgraphNodeParams* parameters, ContentsPtr* contents);

// A kernel's parameters stay readable until they are changed or asked for again.
CUDA_KERNEL_NODE_PARAMS_v2 describe_kernel(GraphNode& node);
CUDA_MEMSET_NODE_PARAMS_v1 describe_fill(const FillPlan& plan);

// Puts it into the graph behind the nodes given.
CUresult add_node(CUgraphNode* result, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                  const ContentsPtr& contents);
// The same with what `make(&contents)` makes, unless it refuses.
template <class Make>
CUresult add_made(CUgraphNode* result, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                  const Make& make) {
  ContentsPtr contents;
  SOFTGPU_TRY(make(&contents));
  return add_node(result, graph, dependencies, count, contents);
}

// Answers what `describe` says of a node of that kind.
template <class Kind, class Result, class Describe>
CUresult answer(CUgraphNode handle, Result* result, const Describe& describe) {
  GraphNodePtr node;
  SOFTGPU_TRY(find_node(handle, &node));
  const auto* kind = node->as<Kind>();
  if (kind == nullptr || result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *result = describe(*node, *kind);
  return CUDA_SUCCESS;
}

// In place of what a node of the same kind did: in the graph, or in an executable one.
CUresult set_contents(CUgraphNode node, const ContentsPtr& contents);
CUresult set_contents(CUgraphExec exec, CUgraphNode node, const ContentsPtr& contents);

}  // namespace softgpu
