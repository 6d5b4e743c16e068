// Stream capture, and graphs on a stream.
#include "tools/softgpu/cudart/call.hpp"

using namespace softgpu::cudart;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return in_context(
      [&] { return on_stream.cuStreamBeginCapture(stream, static_cast<CUstreamCaptureMode>(mode)); });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* edges,
                                          size_t count, cudaStreamCaptureMode mode) {
  return in_context([&] {
    return on_stream.cuStreamBeginCaptureToGraph(stream, graph, dependencies,
                                                 same_layout<CUgraphEdgeData>(edges), count,
                                                 static_cast<CUstreamCaptureMode>(mode));
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return in_context([&] { return on_stream.cuStreamEndCapture(stream, graph); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return in_context(
      [&] { return on_stream.cuStreamIsCapturing(stream, same_layout<CUstreamCaptureStatus>(status)); });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                                     size_t* count) {
  return in_context([&] {
    return on_stream.cuStreamGetCaptureInfo(stream, same_layout<CUstreamCaptureStatus>(status),
                                            same_layout<cuuint64_t>(id), graph, dependencies,
                                            reinterpret_cast<const CUgraphEdgeData**>(edges), count);
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData* edges, size_t count,
                                                unsigned int flags) {
  return in_context([&] {
    return on_stream.cuStreamUpdateCaptureDependencies(stream, dependencies,
                                                       same_layout<CUgraphEdgeData>(edges), count, flags);
  });
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* executable, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  return in_context([&] {
    return on_stream.cuGraphInstantiateWithParams(executable, graph,
                                                  same_layout<CUDA_GRAPH_INSTANTIATE_PARAMS>(parameters));
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  return in_context([&] { return on_stream.cuGraphUpload(executable, stream); });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return in_context([&] { return on_stream.cuGraphLaunch(executable, stream); });
}
