// Reads from the driver what the nodes of a graph touch. Called by the graph doors when a graph becomes
// executable or an executable one is changed. Thread rule: as the driver's: one thread at a time per graph.
// Failure rule: what cannot be read makes the graph opaque.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "interpose/visit.hpp"

namespace tencache::doors {

// What one node, or several, may touch of the arena.
struct NodeTouch {
  std::vector<CUdeviceptr> pointers;  // each stands for a whole allocation
  std::vector<CUdeviceptr> copied;    // of copies and fills, whose addresses the driver judges
  bool opaque = false;                // what it touches is not known
  bool waits_for_host = false;        // a host function, or a wait for a value or a semaphore

  void add(const NodeTouch& other);
};

struct GraphContents {
  std::unordered_map<CUgraphNode, NodeTouch> nodes;  // a child graph's nodes are in its own node's
  std::uint64_t signature = 0;                       // of the kinds and functions, without addresses
};

GraphContents read_graph(CUgraph graph, const runtime::Arena& arena) noexcept;

// The same from parameters about to be set.
NodeTouch touch_of(const CUDA_KERNEL_NODE_PARAMS& parameters, const runtime::Arena& arena) noexcept;
NodeTouch touch_of(const CUDA_MEMCPY3D& parameters, const runtime::Arena& arena) noexcept;
NodeTouch touch_of(const CUDA_MEMSET_NODE_PARAMS& parameters, const runtime::Arena& arena) noexcept;
NodeTouch touch_of(const CUgraphNodeParams& parameters, const runtime::Arena& arena) noexcept;

}  // namespace tencache::doors
