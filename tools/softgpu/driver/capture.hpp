// Stream capture and the graphs that come of it. Called by submit() and the capture and graph entry points.
// Thread rule: one lock over all captures. Failure rule: an illegal call invalidates the captures it would
// disturb.
#pragma once

#include <cuda.h>

#include <memory>
#include <vector>

#include "tools/softgpu/driver/context.hpp"

namespace softgpu {

struct GraphNode {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  Work work;
  std::vector<std::size_t> dependencies;
};
struct Graph {
  std::vector<GraphNode> nodes;  // each after those it depends on
};
using Graphs = Registry<Graph, CUgraph>;

struct GraphExec {
  Graph graph;  // as it was when instantiated
  unsigned long long flags = 0;
};
using GraphExecs = Registry<GraphExec, CUgraphExec>;

struct Capture {
  std::uint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  CUcontext context = nullptr;
  const Stream* origin = nullptr;
  bool invalidated = false;
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  // The streams in this capture, with the nodes that their next one follows.
  std::map<const Stream*, std::vector<std::size_t>> tails;
};

CUresult begin_capture(Stream& stream, CUstreamCaptureMode mode);
CUresult end_capture(Stream& stream, std::shared_ptr<Graph>* graph);
CUresult exchange_capture_mode(CUstreamCaptureMode* mode);

// Adds a node where the stream is being captured; refuses work on the legacy stream that a capture forbids.
CUresult record_if_capturing(Stream& stream, const Work& work, bool* captured);
// Event record and wait inside a capture; `captured` says whether that was it.
CUresult capture_event_record(Stream& stream, Event& event, bool* captured);
CUresult capture_event_wait(Stream& stream, Event& event, bool* captured);

// Before a call that may not happen while a capture is going on (allocation, synchronisation, queries).
CUresult refuse_in_capture();
// Before a call that waits for or asks about a captured stream.
CUresult refuse_if_capturing(Stream& stream);

// `id` and `graph` may be null.
CUresult capture_status(Stream& stream, CUstreamCaptureStatus* status, std::uint64_t* id,
                        std::shared_ptr<Graph>* graph);

CUresult launch_graph(const GraphExec& exec, Stream& stream);

}  // namespace softgpu
