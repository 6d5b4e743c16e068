// Nodes: added, asked for their parameters, given others; in a graph or in an executable one.
#include <type_traits>
#include <utility>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/copy_plan.hpp"
#include "tools/softgpu/driver/graph_parameters.hpp"

namespace softgpu::api {
namespace {

// The parameters before CUDA 12, without a CUkernel.
CUDA_KERNEL_NODE_PARAMS_v2 widened(const CUDA_KERNEL_NODE_PARAMS_v1& old) {
  return {old.func,      old.gridDimX,       old.gridDimY,     old.gridDimZ, old.blockDimX, old.blockDimY,
          old.blockDimZ, old.sharedMemBytes, old.kernelParams, old.extra,    nullptr,       nullptr};
}
CUDA_KERNEL_NODE_PARAMS_v1 narrowed(const CUDA_KERNEL_NODE_PARAMS_v2& p) {
  return {p.func,      p.gridDimX,  p.gridDimY,       p.gridDimZ,     p.blockDimX,
          p.blockDimY, p.blockDimZ, p.sharedMemBytes, p.kernelParams, p.extra};
}

CUresult make(const CUDA_KERNEL_NODE_PARAMS_v1* parameters, ContentsPtr* contents) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_KERNEL_NODE_PARAMS_v2 wide = widened(*parameters);
  return contents_of(&wide, contents);
}
template <class Parameters>
CUresult make(const Parameters* parameters, ContentsPtr* contents) {
  return contents_of(parameters, contents);
}

template <class Parameters>
CUresult add(CUgraphNode* result, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
             const Parameters* parameters) {
  return add_made(result, graph, dependencies, count,
                  [parameters](ContentsPtr* made) { return make(parameters, made); });
}

template <class Parameters>
CUresult set(CUgraphNode node, const Parameters* parameters) {
  ContentsPtr contents;
  SOFTGPU_TRY(make(parameters, &contents));
  return set_contents(node, contents);
}

template <class Parameters>
CUresult set(CUgraphExec exec, CUgraphNode node, const Parameters* parameters) {
  ContentsPtr contents;
  SOFTGPU_TRY(make(parameters, &contents));
  return set_contents(exec, node, contents);
}

CUresult set_event(CUgraphNode handle, CUevent event, bool waits) {
  ContentsPtr contents;
  SOFTGPU_TRY(contents_of_event(event, waits, &contents));
  return set_contents(handle, contents);
}

CUresult get_event(CUgraphNode handle, CUevent* event, bool waits) {
  GraphNodePtr node;
  SOFTGPU_TRY(find_node(handle, &node));
  const auto* found = node->as<EventNode>();
  if (found == nullptr || found->waits != waits || event == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *event = found->event;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuGraphAddKernelNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                              std::size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                 std::size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v2* nodeParams) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                              std::size_t numDependencies, const CUDA_MEMCPY3D* copyParams, CUcontext) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, copyParams);
}

CUresult cuGraphAddMemsetNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                              std::size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS_v1* memsetParams,
                              CUcontext) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, memsetParams);
}

CUresult cuGraphAddHostNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                            std::size_t numDependencies, const CUDA_HOST_NODE_PARAMS_v1* nodeParams) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}

CUresult cuGraphAddEmptyNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                             std::size_t numDependencies) {
  return add_node(phGraphNode, hGraph, dependencies, numDependencies, contents_of(EmptyNode{}));
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                  std::size_t numDependencies, CUgraph childGraph) {
  return add_made(phGraphNode, hGraph, dependencies, numDependencies,
                  [childGraph](ContentsPtr* made) { return contents_of_child(childGraph, made); });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                   std::size_t numDependencies, CUevent event) {
  return add_made(phGraphNode, hGraph, dependencies, numDependencies,
                  [event](ContentsPtr* made) { return contents_of_event(event, false, made); });
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                 std::size_t numDependencies, CUevent event) {
  return add_made(phGraphNode, hGraph, dependencies, numDependencies,
                  [event](ContentsPtr* made) { return contents_of_event(event, true, made); });
}

CUresult cuGraphAddNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                        std::size_t numDependencies, CUgraphNodeParams* nodeParams) {
  return add_made(phGraphNode, hGraph, dependencies, numDependencies,
                  [nodeParams](ContentsPtr* made) { return contents_of(nodeParams, made); });
}

CUresult cuGraphAddNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* dependencyData, std::size_t numDependencies,
                           CUgraphNodeParams* nodeParams) {
  for (std::size_t i = 0; dependencyData != nullptr && i < numDependencies; ++i)
    if (dependencyData[i].from_port != 0 || dependencyData[i].to_port != 0 || dependencyData[i].type != 0)
      return refuse("edges with ports between the nodes of a graph");
  return api::cuGraphAddNode(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v2* nodeParams) {
  return answer<KernelNode>(hNode, nodeParams,
                            [](GraphNode& node, const KernelNode&) { return describe_kernel(node); });
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  CUDA_KERNEL_NODE_PARAMS_v2 wide{};
  SOFTGPU_TRY(api::cuGraphKernelNodeGetParams_v2(hNode, nodeParams == nullptr ? nullptr : &wide));
  *nodeParams = narrowed(wide);
  return CUDA_SUCCESS;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D* nodeParams) {
  return answer<CopyNode>(hNode, nodeParams,
                          [](GraphNode&, const CopyNode& copy) { return describe_copy(copy.plan); });
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS_v1* nodeParams) {
  return answer<FillNode>(hNode, nodeParams,
                          [](GraphNode&, const FillNode& fill) { return describe_fill(fill.plan); });
}

CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS_v1* nodeParams) {
  return answer<HostNode>(hNode, nodeParams, [](GraphNode&, const HostNode& host) {
    return CUDA_HOST_NODE_PARAMS_v1{host.function, host.data};
  });
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent* event_out) {
  return get_event(hNode, event_out, false);
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent* event_out) {
  return get_event(hNode, event_out, true);
}

// No attribute of a kernel's changes anything here.
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID,
                                       CUkernelNodeAttrValue* value_out) {
  return answer<KernelNode>(hNode, value_out,
                            [](GraphNode&, const KernelNode&) { return CUkernelNodeAttrValue{}; });
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event) {
  return set_event(hNode, event, false);
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event) {
  return set_event(hNode, event, true);
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event) {
  ContentsPtr contents;
  SOFTGPU_TRY(contents_of_event(event, false, &contents));
  return set_contents(hGraphExec, hNode, contents);
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event) {
  ContentsPtr contents;
  SOFTGPU_TRY(contents_of_event(event, true, &contents));
  return set_contents(hGraphExec, hNode, contents);
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return set(hNode, nodeParams);
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return set(hGraphExec, hNode, nodeParams);
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v2* nodeParams) {
  return set(hNode, nodeParams);
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS_v2* nodeParams) {
  return set(hGraphExec, hNode, nodeParams);
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D* nodeParams) {
  return set(hNode, nodeParams);
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMCPY3D* nodeParams, CUcontext) {
  return set(hGraphExec, hNode, nodeParams);
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS_v1* nodeParams) {
  return set(hNode, nodeParams);
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS_v1* nodeParams, CUcontext) {
  return set(hGraphExec, hNode, nodeParams);
}

CUresult cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS_v1* nodeParams) {
  return set(hNode, nodeParams);
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      const CUDA_HOST_NODE_PARAMS_v1* nodeParams) {
  return set(hGraphExec, hNode, nodeParams);
}

CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
  ContentsPtr contents;
  SOFTGPU_TRY(contents_of(nodeParams, &contents));
  return set_contents(hNode, contents);
}
CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
  ContentsPtr contents;
  SOFTGPU_TRY(contents_of(nodeParams, &contents));
  return set_contents(hGraphExec, hNode, contents);
}

}  // namespace softgpu::api
