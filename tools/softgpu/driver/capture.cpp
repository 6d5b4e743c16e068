#include "tools/softgpu/driver/capture.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace softgpu {
namespace {

std::mutex capture_mutex;
std::vector<std::shared_ptr<Capture>> captures;  // under capture_mutex
std::atomic<std::size_t> capture_count{0};
std::atomic<std::uint64_t> next_capture_id{1};
thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

CUresult add_node_locked(Stream& stream, ContentsPtr contents) {
  Capture& capture = *stream.capture;
  if (capture.invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  std::vector<GraphNode*>& tail = capture.tails[&stream];
  tail = {capture.graph->add(std::move(contents), tail)};
  return CUDA_SUCCESS;
}

// Work on the legacy stream would have to wait for blocking streams, which a captured one cannot give.
std::vector<Capture*> captures_disturbed_by(const Stream& stream) {
  std::vector<Capture*> disturbed;
  if (stream.queue->kind != StreamKind::kLegacy) return disturbed;
  for (const auto& capture : captures)
    if (capture->context == stream.context_handle && capture->origin->queue->kind == StreamKind::kBlocking)
      disturbed.push_back(capture.get());
  return disturbed;
}

CUresult refuse_on_legacy_locked(const Stream& stream) {
  const std::vector<Capture*> disturbed = captures_disturbed_by(stream);
  for (Capture* capture : disturbed) capture->invalidated = true;
  return disturbed.empty() ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

bool forbids(const Capture& capture) {
  if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
  const bool own = capture.thread == std::this_thread::get_id();
  if (own) return capture.mode != CU_STREAM_CAPTURE_MODE_RELAXED;
  return capture.mode == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

// A forked stream has joined when what follows its last node is in the origin's past.
bool has_joined(const Capture& capture) {
  std::set<const GraphNode*> followed;
  for (const GraphNodePtr& node : capture.graph->nodes)
    followed.insert(node->dependencies.begin(), node->dependencies.end());
  const std::vector<GraphNode*>& end = capture.tails.at(capture.origin);
  followed.insert(end.begin(), end.end());
  return std::all_of(capture.tails.begin(), capture.tails.end(), [&](const auto& each) {
    return std::all_of(each.second.begin(), each.second.end(),
                       [&](const GraphNode* node) { return followed.contains(node); });
  });
}

}  // namespace

CUresult begin_capture(Stream& stream, CUstreamCaptureMode mode, GraphPtr graph,
                       std::vector<GraphNode*> dependencies) {
  if (stream.queue->kind == StreamKind::kLegacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  const std::lock_guard lock(capture_mutex);
  if (stream.capture != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  auto capture = std::make_shared<Capture>();
  capture->id = next_capture_id.fetch_add(1);
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->context = stream.context_handle;
  capture->origin = &stream;
  capture->own_graph = graph == nullptr;
  capture->graph = capture->own_graph ? std::make_shared<Graph>() : std::move(graph);
  if (capture->own_graph) Graphs::instance().add(capture->graph);
  capture->tails[&stream] = std::move(dependencies);
  stream.capture = capture;
  captures.push_back(std::move(capture));
  capture_count.store(captures.size());
  return CUDA_SUCCESS;
}

CUresult end_capture(Stream& stream, CUgraph* graph) {
  const std::lock_guard lock(capture_mutex);
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->origin != &stream) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  const bool own_thread = capture->thread == std::this_thread::get_id();
  if (!own_thread && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  const bool joined = has_joined(*capture);
  for (const auto& [other, tail] : capture->tails) const_cast<Stream*>(other)->capture.reset();
  std::erase(captures, capture);
  capture_count.store(captures.size());
  if (!capture->invalidated && joined) {
    *graph = handle_of(capture->graph.get());
    return CUDA_SUCCESS;
  }
  if (capture->own_graph) Graphs::instance().remove(handle_of(capture->graph.get()));
  return capture->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
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
  return add_node_locked(stream, work.contents != nullptr ? work.contents : contents_of(ValueNode{work}));
}

CUresult capture_node(Stream& stream, ContentsPtr contents, bool* captured) {
  if (capture_count.load() == 0) return CUDA_SUCCESS;
  const std::lock_guard lock(capture_mutex);
  if (stream.capture == nullptr) return refuse_on_legacy_locked(stream);
  *captured = true;
  return add_node_locked(stream, std::move(contents));
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
  for (GraphNode* node : event.captured_after)
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

// The legacy stream cannot be asked while a stream that it waits for is captured; asking does no harm.
CUresult capture_status(Stream& stream, CUstreamCaptureStatus* status, const CaptureReport& report) {
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (capture_count.load() == 0) return CUDA_SUCCESS;
  const std::lock_guard lock(capture_mutex);
  if (stream.capture == nullptr)
    return captures_disturbed_by(stream).empty() ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  Capture& capture = *stream.capture;
  *status = capture.invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (capture.invalidated) return CUDA_SUCCESS;
  const std::vector<GraphNode*>& tail = capture.tails[&stream];
  capture.reported.clear();
  for (const GraphNode* node : tail) capture.reported.push_back(handle_of(node));
  capture.reported_edges.assign(tail.size(), {});
  if (report.id != nullptr) *report.id = capture.id;
  if (report.graph != nullptr) *report.graph = handle_of(capture.graph.get());
  if (report.dependencies != nullptr) *report.dependencies = capture.reported.data();
  if (report.edges != nullptr) *report.edges = capture.reported_edges.data();
  if (report.count != nullptr) *report.count = tail.size();
  return CUDA_SUCCESS;
}

CUresult update_capture_tail(Stream& stream, std::span<const CUgraphNode> nodes, bool replace) {
  const std::lock_guard lock(capture_mutex);
  if (stream.capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (stream.capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  std::vector<GraphNode*> tail = replace ? std::vector<GraphNode*>{} : stream.capture->tails[&stream];
  for (const CUgraphNode handle : nodes) {
    const GraphNodePtr node = GraphNodes::instance().find(handle);
    if (node == nullptr || !stream.capture->graph->has(node.get())) return CUDA_ERROR_INVALID_VALUE;
    if (std::find(tail.begin(), tail.end(), node.get()) == tail.end()) tail.push_back(node.get());
  }
  stream.capture->tails[&stream] = std::move(tail);
  return CUDA_SUCCESS;
}

}  // namespace softgpu
