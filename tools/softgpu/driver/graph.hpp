// Graphs: nodes, what each does, and what follows what. Called by stream capture and the graph entry points.
// Thread rule: as CUDA's: one thread at a time per graph. Failure rule: null or false for what a graph may
// not become.
#pragma once

#include <cuda.h>

#include <memory>
#include <variant>
#include <vector>

#include "tools/softgpu/device/copy.hpp"
#include "tools/softgpu/driver/launch.hpp"

namespace softgpu {

struct Graph;
struct GraphAllocation;
using GraphPtr = std::shared_ptr<Graph>;

struct EmptyNode {};
struct KernelNode {
  KernelLaunch launch;
  CUfunction function = nullptr;  // as the program named it
  CUkernel kernel = nullptr;
};
struct CopyNode {
  CopyPlan plan;
};
struct FillNode {
  FillPlan plan;
};
struct HostNode {
  CUhostFn function = nullptr;
  void* data = nullptr;
};
struct ChildNode {
  GraphPtr graph;
};
struct EventNode {
  CUevent event = nullptr;
  bool waits = false;
};
struct AllocateNode {
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  std::shared_ptr<GraphAllocation> allocation;
};
struct FreeNode {
  CUdeviceptr address = 0;
  std::shared_ptr<GraphAllocation> allocation;
};
// A wait for or a write of a value in memory, which only capture makes.
struct ValueNode {
  Work work;
};
struct NodeContents {
  std::variant<EmptyNode, KernelNode, CopyNode, FillNode, HostNode, ChildNode, EventNode, AllocateNode,
               FreeNode, ValueNode>
      what;
};
using ContentsPtr = std::shared_ptr<const NodeContents>;

template <class Node>
ContentsPtr contents_of(Node node) {
  return std::make_shared<const NodeContents>(NodeContents{std::move(node)});
}

struct GraphNode {
  Graph* graph = nullptr;
  ContentsPtr contents;
  std::vector<GraphNode*> dependencies;
  GraphNode* original = nullptr;          // of a clone's node; may be gone: only compared
  bool enabled = true;                    // in an executable graph
  std::vector<void*> parameter_pointers;  // handed out by cuGraphKernelNodeGetParams
  std::vector<std::uint8_t> parameter_bytes;

  [[nodiscard]] CUgraphNodeType type() const;
  template <class Node>
  [[nodiscard]] const Node* as() const {
    return std::get_if<Node>(&contents->what);
  }
};
using GraphNodePtr = std::shared_ptr<GraphNode>;
using GraphNodes = Registry<GraphNode, CUgraphNode>;

struct Graph {
  ~Graph();
  std::vector<GraphNodePtr> nodes;  // as they were added
  bool is_child = false;            // owned by a node: not to be destroyed by its handle

  GraphNode* add(ContentsPtr contents, std::vector<GraphNode*> dependencies);
  void remove(GraphNode* node);
  [[nodiscard]] bool has(const GraphNode* node) const;
  // Each node after those it depends on; empty where they go in a circle.
  [[nodiscard]] std::vector<GraphNode*> in_order() const;
  [[nodiscard]] bool has_memory_nodes() const;
};
using Graphs = Registry<Graph, CUgraph>;

inline CUgraph handle_of(const Graph* graph) { return reinterpret_cast<CUgraph>(const_cast<Graph*>(graph)); }
inline CUgraphNode handle_of(const GraphNode* node) {
  return reinterpret_cast<CUgraphNode>(const_cast<GraphNode*>(node));
}

// A copy of its own, child graphs included; the caller registers it where the program gets a handle.
GraphPtr clone(const Graph& graph);

// What the contents are when put into a stream of a context; not for child graphs and events.
Work work_of(const ContentsPtr& contents, const std::shared_ptr<Fate>& fate);

// A host function's turn, on the thread that runs them.
void call_host(const std::function<void()>& call, Progress& progress);

}  // namespace softgpu
