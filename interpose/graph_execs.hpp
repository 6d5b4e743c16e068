// What each executable graph may touch. Kept by the graph doors. Thread rule: from any thread; no lock is
// held while the driver is called. Failure rule: an executable graph that is not known here is opaque to its
// door.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>

#include "interpose/graph_reader.hpp"

namespace tencache::doors {

// Of all nodes together, as it is when the graph is launched.
struct GraphTouch {
  std::vector<CUdeviceptr> pointers;  // each once
  bool opaque = false;
  bool waits_for_host = false;
  std::uint64_t signature = 0;
};

class GraphExecs {
 public:
  void made(CUgraphExec exec, GraphContents contents);
  // Took over another graph's parameters: that graph's nodes have other names than those of ours. Where the
  // driver refused, either may hold.
  void updated(CUgraphExec exec, const GraphContents& contents, bool refused);
  void node_changed(CUgraphExec exec, CUgraphNode node, NodeTouch touch);
  void gone(CUgraphExec exec);
  // Null: not known. Gathered anew at the first launch after a change.
  std::shared_ptr<const GraphTouch> touch(CUgraphExec exec);

 private:
  struct Exec {
    std::mutex mutex;
    std::unordered_map<CUgraphNode, NodeTouch> nodes;
    NodeTouch others;  // of nodes whose names are not known here
    std::uint64_t signature = 0;
    std::shared_ptr<const GraphTouch> sum;  // null: to be gathered
  };
  std::shared_ptr<Exec> find(CUgraphExec exec);
  static std::shared_ptr<const GraphTouch> gather(const Exec& exec);

  std::shared_mutex mutex_;
  std::unordered_map<CUgraphExec, std::shared_ptr<Exec>> execs_;
};

}  // namespace tencache::doors
