// Least recently used: the plainest policy, which knows no future. It puts out what was accessed longest ago
// and brings nothing in ahead of its use. Made by the registry. Thread and failure rules: see policy.hpp.
#pragma once

#include <vector>

#include "policy/policy.hpp"

namespace tencache::policy {

class LeastRecentlyUsed final : public Policy {
 public:
  [[nodiscard]] const char* name() const override { return "lru"; }
  // To be created counts as an access: what was just asked for is about to be used.
  void extent_created(const ExtentDescription& extent) override;
  void extent_destroyed(ExtentIndex extent) override;
  void access(const Access& access) override;

  // Walks from the longest ago: the extents already put out come first, so the walk is as long as they are
  // many. That is a microsecond per thousand, against the copy that follows.
  std::optional<ExtentIndex> victim(const Residency& residency) override;
  std::optional<ExtentIndex> next_fetch(const Residency&) override { return std::nullopt; }
  std::optional<ExtentIndex> next_clean(const Residency&) override { return std::nullopt; }

  // Shows the extents, that accessed longest ago first, while `old(extent)` and `look(extent)` hold.
  template <class Old, class Look>
  void oldest_while(Old&& old, Look&& look) const {
    for (NodeIndex node = ring_[kSentinel].next; node != kSentinel; node = ring_[node].next) {
      if (!old(node - 1) || !look(node - 1)) return;
    }
  }

 private:
  // A ring through a sentinel at index 0: an extent is the node after its index. sentinel.next is the least
  // recently used, sentinel.previous the most.
  using NodeIndex = std::uint32_t;
  struct Node {
    NodeIndex previous = kUnlinked;
    NodeIndex next = kUnlinked;
  };
  static constexpr NodeIndex kSentinel = 0;
  static constexpr NodeIndex kUnlinked = UINT32_MAX;
  static NodeIndex node_of(ExtentIndex extent) { return extent + 1; }

  void link_last(NodeIndex node);
  void unlink(NodeIndex node);

  std::vector<Node> ring_{Node{kSentinel, kSentinel}};
};

}  // namespace tencache::policy
