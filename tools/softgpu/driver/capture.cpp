#include "tools/softgpu/driver/capture.hpp"

#include <algorithm>
#include <utility>

namespace softgpu {
namespace {

std::mutex capture_mutex;
std::vector<std::shared_ptr<Capture>> captures;  // under capture_mutex
std::atomic<std::size_t> capture_count{0};
std::atomic<std::uint64_t> next_capture_id{1};
thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

CUresult add_node_locked(Stream& stream, GraphNode node) {
  Capture& capture = *stream.capture;
  if (capture.invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  std::vector<std::size_t>& tail = capture.tails[&stream];
  node.dependencies = tail;
  tail = {capture.graph->nodes.size()};
  capture.graph->nodes.push_back(std::move(node));
  return CUDA_SUCCESS;
}

CUgraphNodeType node_type(EngineKind engine) {
  switch (engine) {
    case EngineKind::kInline:
      return CU_GRAPH_NODE_TYPE_EMPTY;
    case EngineKind::kHostThread:
      return CU_GRAPH_NODE_TYPE_HOST;
    case EngineKind::kCopyToDevice:
    case EngineKind::kCopyToHost:
      return CU_GRAPH_NODE_TYPE_MEMCPY;
    case EngineKind::kPoll:
      return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    case EngineKind::kCompute:
      break;
  }
  return CU_GRAPH_NODE_TYPE_KERNEL;
}

// Work on the legacy stream would have to wait for blocking streams, which a captured one cannot give.
CUresult refuse_on_legacy_locked(const Stream& stream) {
  if (stream.queue->kind != StreamKind::kLegacy) return CUDA_SUCCESS;
  bool disturbed = false;
  for (const auto& capture : captures) {
    if (capture->context != stream.context_handle || capture->origin->queue->kind != StreamKind::kBlocking)
      continue;
    capture->invalidated = true;
    disturbed = true;
  }
  return disturbed ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
}

bool forbids(const Capture& capture) {
  if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
  const bool own = capture.thread == std::this_thread::get_id();
  if (own) return capture.mode != CU_STREAM_CAPTURE_MODE_RELAXED;
  return capture.mode == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

}  // namespace

CUresult begin_capture(Stream& stream, CUstreamCaptureMode mode) {
  if (stream.queue->kind == StreamKind::kLegacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  const std::lock_guard lock(capture_mutex);
  if (stream.capture != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  auto capture = std::make_shared<Capture>();
  capture->id = next_capture_id.fetch_add(1);
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->context = stream.context_handle;
  capture->origin = &stream;
  capture->tails[&stream];
  stream.capture = capture;
  captures.push_back(std::move(capture));
  capture_count.store(captures.size());
  return CUDA_SUCCESS;
}

CUresult end_capture(Stream& stream, std::shared_ptr<Graph>* graph) {
  const std::lock_guard lock(capture_mutex);
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->origin != &stream) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  const bool own_thread = capture->thread == std::this_thread::get_id();
  if (!own_thread && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  // A forked stream has joined when what follows its last node is in the origin's past.
  std::vector<bool> followed(capture->graph->nodes.size());
  for (const GraphNode& node : capture->graph->nodes)
    for (const std::size_t before : node.dependencies) followed[before] = true;
  bool joined = true;
  const auto& end = capture->tails[&stream];
  for (const auto& [other, tail] : capture->tails)
    for (const std::size_t node : tail)
      joined = joined && (followed[node] || std::find(end.begin(), end.end(), node) != end.end());
  for (const auto& [other, tail] : capture->tails) const_cast<Stream*>(other)->capture.reset();
  std::erase(captures, capture);
  capture_count.store(captures.size());
  if (capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!joined) return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  *graph = capture->graph;
  return CUDA_SUCCESS;
}

CUresult exchange_capture_mode(CUstreamCaptureMode* mode) {
  if (*mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  std::swap(*mode, thread_mode);
  return CUDA_SUCCESS;
}

CUresult record_if_capturing(Stream& stream, const Work& work, bool* captured) {
  if (capture_count.load() == 0) return CUDA_SUCCESS;
  const std::lock_guard lock(capture_mutex);
  if (stream.capture == nullptr) return refuse_on_legacy_locked(stream);
  *captured = true;
  GraphNode node;
  node.type = node_type(work.engine);
  node.work = work;
  return add_node_locked(stream, std::move(node));
}

CUresult capture_event_record(Stream& stream, Event& event, bool* captured) {
  if (capture_count.load() == 0) return CUDA_SUCCESS;
  const std::lock_guard lock(capture_mutex);
  if (stream.capture == nullptr) return refuse_on_legacy_locked(stream);
  *captured = true;
  if (stream.capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  event.capture = stream.capture;
  event.captured_after = stream.capture->tails[&stream];
  return CUDA_SUCCESS;
}

CUresult capture_event_wait(Stream& stream, Event& event, bool* captured) {
  if (capture_count.load() == 0) return CUDA_SUCCESS;
  const std::lock_guard lock(capture_mutex);
  if (event.capture == nullptr && stream.capture == nullptr) return CUDA_SUCCESS;
  *captured = true;
  if (event.capture == nullptr) {
    stream.capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  if (stream.capture != nullptr && stream.capture != event.capture) {
    stream.capture->invalidated = event.capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  if (event.capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  stream.capture = event.capture;
  auto& tail = stream.capture->tails[&stream];
  for (const std::size_t node : event.captured_after)
    if (std::find(tail.begin(), tail.end(), node) == tail.end()) tail.push_back(node);
  return CUDA_SUCCESS;
}

CUresult refuse_in_capture() {
  if (capture_count.load() == 0) return CUDA_SUCCESS;
  const std::lock_guard lock(capture_mutex);
  bool disturbed = false;
  for (const auto& capture : captures) {
    if (!forbids(*capture)) continue;
    capture->invalidated = true;
    disturbed = true;
  }
  return disturbed ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult refuse_if_capturing(Stream& stream) {
  if (capture_count.load() == 0) return CUDA_SUCCESS;
  const std::lock_guard lock(capture_mutex);
  if (stream.capture == nullptr) return refuse_on_legacy_locked(stream);
  stream.capture->invalidated = true;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult capture_status(Stream& stream, CUstreamCaptureStatus* status, std::uint64_t* id,
                        std::shared_ptr<Graph>* graph) {
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (capture_count.load() == 0) return CUDA_SUCCESS;
  const std::lock_guard lock(capture_mutex);
  if (stream.capture == nullptr) return refuse_on_legacy_locked(stream);
  *status =
      stream.capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (id != nullptr) *id = stream.capture->id;
  if (graph != nullptr) *graph = stream.capture->graph;
  return CUDA_SUCCESS;
}

// The nodes in the order they were captured: one of the orders that the graph allows.
CUresult launch_graph(const GraphExec& exec, Stream& stream) {
  for (const GraphNode& node : exec.graph.nodes) SOFTGPU_TRY(submit(stream, node.work));
  return CUDA_SUCCESS;
}

}  // namespace softgpu
