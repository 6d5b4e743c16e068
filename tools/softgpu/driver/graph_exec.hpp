// Executable graphs: a graph's copy made ready, changed in place, launched. Called by the graph entry points.
// Thread rule: as CUDA's: one thread at a time per executable graph. Failure rule: CUresult; a refused update
// changes nothing.
#pragma once

#include <cuda.h>

#include <map>
#include <vector>

#include "tools/softgpu/driver/graph.hpp"

namespace softgpu {

struct GraphExec {
  GraphPtr graph;
  std::map<const GraphNode*, GraphNode*> own;  // of the graph it was made from -> of `graph`
  unsigned long long flags = 0;
  // What is put into the stream: kernels and fills in a row are one operation.
  std::vector<std::vector<ContentsPtr>> steps;
  bool stale = true;
};
using GraphExecPtr = std::shared_ptr<GraphExec>;
using GraphExecs = Registry<GraphExec, CUgraphExec>;

CUresult instantiate(const Graph& graph, unsigned long long flags, GraphExecPtr* exec);
// Takes over the parameters of a graph of the same shape.
CUresult update(GraphExec& exec, const Graph& graph, CUgraphExecUpdateResultInfo* info);
CUresult launch(GraphExec& exec, Stream& stream);

}  // namespace softgpu
