#include "interpose/graph_execs.hpp"

#include <algorithm>
#include <utility>

namespace tencache::doors {

void GraphExecs::made(CUgraphExec exec, GraphContents contents) {
  auto fresh = std::make_shared<Exec>();
  fresh->nodes = std::move(contents.nodes);
  fresh->signature = contents.signature;
  fresh->sum = gather(*fresh);
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  execs_[exec] = std::move(fresh);
}

void GraphExecs::updated(CUgraphExec exec, const GraphContents& contents, bool refused) {
  const std::shared_ptr<Exec> known = find(exec);
  if (known == nullptr) return;
  const std::lock_guard<std::mutex> lock(known->mutex);
  if (!refused) {
    known->nodes.clear();
    known->others = {};
  }
  for (const auto& [node, touch] : contents.nodes) known->others.add(touch);
  known->sum = nullptr;
}

void GraphExecs::node_changed(CUgraphExec exec, CUgraphNode node, NodeTouch touch) {
  const std::shared_ptr<Exec> known = find(exec);
  if (known == nullptr) return;
  const std::lock_guard<std::mutex> lock(known->mutex);
  known->nodes[node] = std::move(touch);
  known->sum = nullptr;
}

void GraphExecs::gone(CUgraphExec exec) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  execs_.erase(exec);
}

std::shared_ptr<const GraphTouch> GraphExecs::touch(CUgraphExec exec) {
  const std::shared_ptr<Exec> known = find(exec);
  if (known == nullptr) return nullptr;
  const std::lock_guard<std::mutex> lock(known->mutex);
  if (known->sum == nullptr) known->sum = gather(*known);
  return known->sum;
}

std::shared_ptr<GraphExecs::Exec> GraphExecs::find(CUgraphExec exec) {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  const auto found = execs_.find(exec);
  return found == execs_.end() ? nullptr : found->second;
}

std::shared_ptr<const GraphTouch> GraphExecs::gather(const Exec& exec) {
  NodeTouch all = exec.others;
  for (const auto& [node, touch] : exec.nodes) all.add(touch);
  std::sort(all.pointers.begin(), all.pointers.end());
  all.pointers.erase(std::unique(all.pointers.begin(), all.pointers.end()), all.pointers.end());
  return std::make_shared<const GraphTouch>(
      GraphTouch{std::move(all.pointers), all.opaque, all.waits_for_host, exec.signature});
}

}  // namespace tencache::doors
