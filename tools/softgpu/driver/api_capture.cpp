// Stream capture.
#include <utility>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/capture.hpp"
#include "tools/softgpu/driver/graph_parameters.hpp"

namespace softgpu::api {
namespace {

CUresult begin(CUstream handle, GraphPtr graph, std::vector<GraphNode*> dependencies,
               CUstreamCaptureMode mode) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(handle, &stream));
  if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  return begin_capture(*stream, mode, std::move(graph), std::move(dependencies));
}

CUresult update_tail(CUstream handle, CUgraphNode* dependencies, std::size_t count, unsigned flags) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(handle, &stream));
  if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (dependencies == nullptr && count > 0))
    return CUDA_ERROR_INVALID_VALUE;
  return update_capture_tail(*stream, {dependencies, count}, flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

}  // namespace

CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode) {
  return begin(hStream, nullptr, {}, mode);
}

CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph, const CUgraphNode* dependencies,
                                     const CUgraphEdgeData* dependencyData, std::size_t numDependencies,
                                     CUstreamCaptureMode mode) {
  GraphPtr graph;
  SOFTGPU_TRY(find_graph(hGraph, &graph));
  if (dependencyData != nullptr) return refuse("cuStreamBeginCaptureToGraph with edges' data");
  std::vector<GraphNode*> after;
  SOFTGPU_TRY(find_dependencies(*graph, dependencies, numDependencies, &after));
  return begin(hStream, std::move(graph), std::move(after), mode);
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph* phGraph) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  if (phGraph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *phGraph = nullptr;
  return end_capture(*stream, phGraph);
}

CUresult cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode* dependencies,
                                           std::size_t numDependencies, unsigned int flags) {
  return update_tail(hStream, dependencies, numDependencies, flags);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode* dependencies,
                                              const CUgraphEdgeData*, std::size_t numDependencies,
                                              unsigned int flags) {
  return update_tail(hStream, dependencies, numDependencies, flags);
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  if (captureStatus == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return capture_status(*stream, captureStatus);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                   cuuint64_t* id_out, CUgraph* graph_out,
                                   const CUgraphNode** dependencies_out, const CUgraphEdgeData** edgeData_out,
                                   std::size_t* numDependencies_out) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  if (captureStatus_out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return capture_status(*stream, captureStatus_out,
                        {id_out, graph_out, dependencies_out, edgeData_out, numDependencies_out});
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

}  // namespace softgpu::api
