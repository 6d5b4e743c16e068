#include "policy/lru.hpp"

namespace tencache::policy {

void LeastRecentlyUsed::extent_created(const ExtentDescription& extent) {
  const NodeIndex node = node_of(extent.extent);
  if (node >= ring_.size()) ring_.resize(node + 1);
  link_last(node);
}

void LeastRecentlyUsed::extent_destroyed(ExtentIndex extent) { unlink(node_of(extent)); }

void LeastRecentlyUsed::access(const Access& access) {
  for (const ExtentIndex extent : access.will_touch) {
    unlink(node_of(extent));
    link_last(node_of(extent));
  }
}

std::optional<ExtentIndex> LeastRecentlyUsed::victim(const Residency& residency) {
  for (NodeIndex node = ring_[kSentinel].next; node != kSentinel; node = ring_[node].next) {
    const ExtentState state = residency.extents[node - 1];
    if (state.tier == Tier::kHbm && !state.held && !state.moving) return node - 1;
  }
  return std::nullopt;
}

void LeastRecentlyUsed::link_last(NodeIndex node) {
  const NodeIndex last = ring_[kSentinel].previous;
  ring_[node] = {last, kSentinel};
  ring_[last].next = node;
  ring_[kSentinel].previous = node;
}

void LeastRecentlyUsed::unlink(NodeIndex node) {
  const Node links = ring_[node];
  ring_[links.previous].next = links.next;
  ring_[links.next].previous = links.previous;
  ring_[node] = {};
}

}  // namespace tencache::policy
