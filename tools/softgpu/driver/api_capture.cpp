// Stream capture, and the graphs that come of it.
#include <algorithm>
#include <utility>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/capture.hpp"

namespace softgpu::api {
namespace {

CUgraph handle_of(const std::shared_ptr<Graph>& graph) { return reinterpret_cast<CUgraph>(graph.get()); }

CUresult find_graph(CUgraph handle, std::shared_ptr<Graph>* graph) {
  SOFTGPU_TRY(check_initialised());
  *graph = Graphs::instance().find(handle);
  return *graph == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult instantiate(CUgraphExec* result, CUgraph handle, unsigned long long flags) {
  std::shared_ptr<Graph> graph;
  SOFTGPU_TRY(find_graph(handle, &graph));
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  auto exec = std::make_shared<GraphExec>();
  exec->graph = *graph;
  exec->flags = flags;
  *result = GraphExecs::instance().add(std::move(exec));
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  return begin_capture(*stream, mode);
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph* phGraph) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  if (phGraph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *phGraph = nullptr;
  std::shared_ptr<Graph> graph;
  SOFTGPU_TRY(end_capture(*stream, &graph));
  *phGraph = Graphs::instance().add(std::move(graph));
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  if (captureStatus == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return capture_status(*stream, captureStatus, nullptr, nullptr);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                   cuuint64_t* id_out, CUgraph* graph_out,
                                   const CUgraphNode** dependencies_out, const CUgraphEdgeData** edgeData_out,
                                   std::size_t* numDependencies_out) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  if (captureStatus_out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  // Nodes have no handles here.
  if (dependencies_out != nullptr || edgeData_out != nullptr || numDependencies_out != nullptr)
    return refuse("cuStreamGetCaptureInfo with dependencies");
  std::shared_ptr<Graph> graph;
  SOFTGPU_TRY(capture_status(*stream, captureStatus_out, id_out, &graph));
  if (graph_out != nullptr) *graph_out = handle_of(graph);
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                   cuuint64_t* id_out, CUgraph* graph_out,
                                   const CUgraphNode** dependencies_out, std::size_t* numDependencies_out) {
  return api::cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, graph_out, dependencies_out,
                                        nullptr, numDependencies_out);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  SOFTGPU_TRY(check_initialised());
  return mode == nullptr ? CUDA_ERROR_INVALID_VALUE : exchange_capture_mode(mode);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph, unsigned long long flags) {
  return instantiate(phGraphExec, hGraph, flags);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) {
  if (instantiateParams == nullptr) return CUDA_ERROR_INVALID_VALUE;
  instantiateParams->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  return instantiate(phGraphExec, hGraph, instantiateParams->flags);
}

CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  const auto exec = GraphExecs::instance().find(hGraphExec);
  return exec == nullptr ? CUDA_ERROR_INVALID_VALUE : launch_graph(*exec, *stream);
}

CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  return GraphExecs::instance().find(hGraphExec) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
  SOFTGPU_TRY(check_initialised());
  return GraphExecs::instance().remove(hGraphExec) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph hGraph) {
  SOFTGPU_TRY(check_initialised());
  return Graphs::instance().remove(hGraph) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t* flags) {
  SOFTGPU_TRY(check_initialised());
  const auto exec = GraphExecs::instance().find(hGraphExec);
  if (exec == nullptr || flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = exec->flags;
  return CUDA_SUCCESS;
}

// The count of nodes; they have no handles to hand out.
CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode* nodes, std::size_t* numNodes) {
  std::shared_ptr<Graph> graph;
  SOFTGPU_TRY(find_graph(hGraph, &graph));
  if (numNodes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (nodes != nullptr) return refuse("cuGraphGetNodes with node handles");
  *numNodes = graph->nodes.size();
  return CUDA_SUCCESS;
}

}  // namespace softgpu::api
