// Stream capture. Called by submit() and the capture entry points.
// Thread rule: one lock over all captures. Failure rule: an illegal call invalidates the captures it would
// disturb.
#pragma once

#include <cuda.h>

#include <memory>
#include <span>
#include <vector>

#include "tools/softgpu/driver/graph.hpp"

namespace softgpu {

struct Capture {
  std::uint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  CUcontext context = nullptr;
  const Stream* origin = nullptr;
  bool invalidated = false;
  GraphPtr graph;
  bool own_graph = true;  // made for this capture; else the program's
  // The streams in this capture, with the nodes that their next one follows.
  std::map<const Stream*, std::vector<GraphNode*>> tails;
  std::vector<CUgraphNode> reported;  // lent out by cuStreamGetCaptureInfo
  std::vector<CUgraphEdgeData> reported_edges;
};

// `graph` null: a new one, the program's from now on.
CUresult begin_capture(Stream& stream, CUstreamCaptureMode mode, GraphPtr graph = nullptr,
                       std::vector<GraphNode*> dependencies = {});
CUresult end_capture(Stream& stream, CUgraph* graph);
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

// What cuStreamGetCaptureInfo answers; each may be null.
struct CaptureReport {
  std::uint64_t* id = nullptr;
  CUgraph* graph = nullptr;
  const CUgraphNode** dependencies = nullptr;
  const CUgraphEdgeData** edges = nullptr;
  std::size_t* count = nullptr;
};
CUresult capture_status(Stream& stream, CUstreamCaptureStatus* status, const CaptureReport& report = {});
// Replaces, or adds to, what the stream's next node follows.
CUresult update_capture_tail(Stream& stream, std::span<const CUgraphNode> nodes, bool replace);
// Adds a node that is no work of a stream's, such as an allocation.
CUresult capture_node(Stream& stream, ContentsPtr contents, bool* captured);

}  // namespace softgpu
