#include "vmm/stream_order.hpp"

#include <algorithm>

namespace tencache::vmm {

void Uses::add(Use use) {
  for (Use& known : uses_) {
    if (known.stream != use.stream) continue;
    known.number = std::max(known.number, use.number);
    return;
  }
  uses_.push_back(use);
}

StreamIndex StreamOrder::index(CUstream handle, std::uint64_t thread) {
  const bool per_thread = handle == CU_STREAM_PER_THREAD;
  const Key key{handle, per_thread ? thread : 0};
  if (const auto known = by_key_.find(key); known != by_key_.end()) return known->second;
  const auto idle = std::find_if(gone_.begin(), gone_.end(), [this](StreamIndex stream) {
    return streams_[stream].completed >= streams_[stream].last_enqueued;
  });
  StreamIndex index = 0;
  if (idle == gone_.end()) {
    index = static_cast<StreamIndex>(streams_.size());
    streams_.emplace_back(&marker_memory_);
  } else {
    index = *idle;
    gone_.erase(idle);
  }
  Stream& stream = streams_[index];
  stream.handle = handle;
  stream.kind = per_thread                   ? StreamKind::kPerThread
                : handle == CU_STREAM_LEGACY ? StreamKind::kLegacy
                                             : StreamKind::kNormal;
  stream.thread = key.thread;
  stream.gone = false;
  by_key_.emplace(key, index);
  return index;
}

void StreamOrder::stream_gone(StreamIndex index) {
  Stream& stream = streams_[index];
  by_key_.erase(Key{stream.handle, stream.thread});
  stream.gone = true;
  gone_.push_back(index);
}

Use StreamOrder::number_access(StreamIndex stream) {
  const std::uint64_t number = ++last_number_;
  streams_[stream].last_enqueued = number;
  ++streams_[stream].unmarked;
  return {stream, number};
}

void StreamOrder::marker_recorded(StreamIndex index, const Marker& marker) {
  Stream& stream = streams_[index];
  stream.last_marked = std::max(stream.last_marked, marker.number);
  stream.markers.push_back(marker);
  stream.last_marker_at = marker.enqueued_at;
  stream.unmarked = 0;
}

void StreamOrder::completed_up_to(StreamIndex index, std::uint64_t number,
                                  std::vector<CUevent>* free_events) {
  Stream& stream = streams_[index];
  stream.completed = std::max(stream.completed, number);
  while (!stream.markers.empty() && stream.markers.front().number <= stream.completed) {
    free_events->push_back(stream.markers.front().event);
    stream.markers.pop_front();
  }
}

Nanoseconds StreamOrder::seen_completed(StreamIndex index, const Marker& marker, Nanoseconds now,
                                        std::vector<CUevent>* free_events) {
  Stream& stream = streams_[index];
  const Nanoseconds begin = std::max(marker.enqueued_at, stream.last_completion_at);
  const Nanoseconds took = now > begin ? now - begin : Nanoseconds();
  longest_seen_ = std::max(took, longest_seen_ - longest_seen_ / 64);  // forgets slowly
  stream.last_completion_at = now;
  completed_up_to(index, marker.number, free_events);
  return begin;
}

void StreamOrder::all_completed_up_to(std::uint64_t number, std::vector<CUevent>* free_events) {
  for (StreamIndex index = 0; index < streams_.size(); ++index) completed_up_to(index, number, free_events);
}

bool StreamOrder::all_ended() const {
  return std::all_of(streams_.begin(), streams_.end(),
                     [](const Stream& stream) { return stream.completed >= stream.last_enqueued; });
}

bool StreamOrder::all_completed(std::uint64_t number) const {
  return std::all_of(streams_.begin(), streams_.end(), [number](const Stream& stream) {
    return stream.completed >= number || stream.completed >= stream.last_enqueued;
  });
}

bool StreamOrder::all_done(Uses& uses) const {
  std::erase_if(uses.uses_, [this](const Use& use) { return done(use); });
  return uses.uses_.empty();
}

bool StreamOrder::host_wait_ahead() const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [](const Stream& stream) { return stream.last_host_wait > stream.completed; });
}

}  // namespace tencache::vmm
