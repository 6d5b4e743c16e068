// Graphs as wholes: making, copying, instantiating, updating, launching.
#include <algorithm>
#include <utility>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/call_costs.hpp"
#include "tools/softgpu/driver/capture.hpp"
#include "tools/softgpu/driver/graph_parameters.hpp"

namespace softgpu::api {
namespace {

constexpr unsigned long long kFlags =
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

CUresult make_exec(CUgraphExec* result, CUgraph handle, unsigned long long flags) {
  GraphPtr graph;
  SOFTGPU_TRY(find_graph(handle, &graph));
  if (result == nullptr || (flags & ~kFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0)
    return refuse("a graph for launches on the device");
  GraphExecPtr exec;
  SOFTGPU_TRY(instantiate(*graph, flags, &exec));
  *result = GraphExecs::instance().add(std::move(exec));
  return CUDA_SUCCESS;
}

CUresult find_own_node(CUgraphExec exec_handle, CUgraphNode handle, GraphExecPtr* exec, GraphNode** own) {
  SOFTGPU_TRY(find_exec(exec_handle, exec));
  GraphNodePtr node;
  SOFTGPU_TRY(find_node(handle, &node));
  const auto found = (*exec)->own.find(node.get());
  if (found == (*exec)->own.end()) return CUDA_ERROR_INVALID_VALUE;
  *own = found->second;
  const CUgraphNodeType type = (*own)->type();
  const bool can_be_disabled = type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMSET ||
                               type == CU_GRAPH_NODE_TYPE_MEMCPY;
  return can_be_disabled ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult cuGraphCreate(CUgraph* phGraph, unsigned int flags) {
  SOFTGPU_TRY(check_initialised());
  if (phGraph == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  *phGraph = Graphs::instance().add(std::make_shared<Graph>());
  return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph* phGraphClone, CUgraph originalGraph) {
  GraphPtr graph;
  SOFTGPU_TRY(find_graph(originalGraph, &graph));
  if (phGraphClone == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (graph->has_memory_nodes()) return refuse("cuGraphClone with memory nodes");
  *phGraphClone = Graphs::instance().add(clone(*graph));
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph hGraph) {
  GraphPtr graph;
  SOFTGPU_TRY(find_graph(hGraph, &graph));
  if (graph->is_child) return CUDA_ERROR_INVALID_VALUE;
  Graphs::instance().remove(hGraph);
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph, unsigned long long flags) {
  return make_exec(phGraphExec, hGraph, flags);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) {
  if (instantiateParams == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = make_exec(phGraphExec, hGraph, instantiateParams->flags);
  instantiateParams->hErrNode_out = nullptr;
  instantiateParams->result_out =
      result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
  return result;
}

CUresult cuGraphInstantiate_v2(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode* phErrorNode,
                               char* logBuffer, std::size_t bufferSize) {
  if (phErrorNode != nullptr) *phErrorNode = nullptr;
  if (logBuffer != nullptr && bufferSize > 0) *logBuffer = '\0';
  return make_exec(phGraphExec, hGraph, 0);
}

CUresult cuGraphInstantiate(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode* phErrorNode,
                            char* logBuffer, std::size_t bufferSize) {
  return api::cuGraphInstantiate_v2(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                              CUgraphExecUpdateResultInfo* resultInfo) {
  GraphExecPtr exec;
  SOFTGPU_TRY(find_exec(hGraphExec, &exec));
  GraphPtr graph;
  SOFTGPU_TRY(find_graph(hGraph, &graph));
  if (resultInfo == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return update(*exec, *graph, resultInfo);
}

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode* hErrorNode_out,
                           CUgraphExecUpdateResult* updateResult_out) {
  if (updateResult_out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUgraphExecUpdateResultInfo info{};
  const CUresult result = api::cuGraphExecUpdate_v2(hGraphExec, hGraph, &info);
  *updateResult_out = info.result;
  if (hErrorNode_out != nullptr) *hErrorNode_out = info.errorNode;
  return result;
}

CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  GraphExecPtr exec;
  SOFTGPU_TRY(find_exec(hGraphExec, &exec));
  pass_call_lock(CallCost::kLaunch);
  return launch(*exec, *stream);
}

CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  GraphExecPtr exec;
  SOFTGPU_TRY(find_exec(hGraphExec, &exec));
  return refuse_if_capturing(*stream);
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
  SOFTGPU_TRY(check_initialised());
  return GraphExecs::instance().remove(hGraphExec) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t* flags) {
  GraphExecPtr exec;
  SOFTGPU_TRY(find_exec(hGraphExec, &exec));
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = exec->flags;
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled) {
  GraphExecPtr exec;
  GraphNode* own = nullptr;
  SOFTGPU_TRY(find_own_node(hGraphExec, hNode, &exec, &own));
  own->enabled = isEnabled != 0;
  exec->stale = true;
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int* isEnabled) {
  GraphExecPtr exec;
  GraphNode* own = nullptr;
  SOFTGPU_TRY(find_own_node(hGraphExec, hNode, &exec, &own));
  if (isEnabled == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *isEnabled = own->enabled ? 1 : 0;
  return CUDA_SUCCESS;
}

}  // namespace softgpu::api
