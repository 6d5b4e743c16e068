// Graphs: captured, built node by node, cloned, nested, updated; captures that end badly.
#include <algorithm>
#include <vector>

#include "tools/torture_programs/operations.hpp"

namespace torture {
namespace {

// A stream that may be captured: one of the program's own.
std::size_t own_stream(std::uint32_t operand) { return 2 + operand % (kStreams - 2); }

struct FillParameters {
  CUdeviceptr target;
  std::uint32_t count, salt;
  void* all[3] = {&target, &count, &salt};
  FillParameters(const Buffer& buffer, std::uint32_t its_salt)
      : target(buffer.base), count(buffer.count()), salt(its_salt) {}
};

CUDA_KERNEL_NODE_PARAMS node_of(CUfunction function, void** parameters) {
  CUDA_KERNEL_NODE_PARAMS node{};
  node.func = function;
  node.gridDimX = 2;
  node.gridDimY = node.gridDimZ = node.blockDimY = node.blockDimZ = 1;
  node.blockDimX = 64;
  node.kernelParams = parameters;
  return node;
}

}  // namespace

// Instantiates, launches twice on the stream, and lets go of everything.
void Operations::run_graph(Executor& x, const Operation& o, CUgraph graph, std::size_t stream) {
  CUgraphExec executable = nullptr;
  x.line(o, cuGraphInstantiate(&executable, graph, 0));
  x.line(o, cuGraphLaunch(executable, x.streams_[stream]));
  x.line(o, cuGraphLaunch(executable, x.streams_[stream]));
  x.line(o, cuStreamSynchronize(x.streams_[stream]));
  x.completed(stream);
  x.line(o, cuGraphExecDestroy(executable));
  x.line(o, cuGraphDestroy(graph));
}

void Operations::kGraphCaptured(Executor& x, const Operation& o) {
  Chosen c;
  if (!choose(x, o, &c)) return;
  const std::size_t stream = own_stream(o.operands[4]);
  x.order(stream, {c.a, c.b}, {c.target});
  Buffer &t = x.buffers_[c.target], &a = x.buffers_[c.a], &b = x.buffers_[c.b];
  std::uint32_t counts[] = {t.count(), a.count(), b.count()}, salt = o.operands[5];
  void* parameters[] = {&t.base, &counts[0], &a.base, &counts[1], &b.base, &counts[2], &salt};
  const auto mode = static_cast<CUstreamCaptureMode>(o.operands[5] % 3);
  x.line(o, cuStreamBeginCapture(x.streams_[stream], mode));
  x.line(o, x.launch(x.kernels_.mix, stream, counts[0], parameters));
  x.line(o, cuMemsetD32Async(t.base, salt, 1 + salt % counts[0], x.streams_[stream]));
  x.line(o, x.launch(x.kernels_.mix, stream, counts[0], parameters));
  CUgraph graph = nullptr;
  x.line(o, cuStreamEndCapture(x.streams_[stream], &graph));
  run_graph(x, o, graph, stream);
}

void Operations::kGraphCapturedCopies(Executor& x, const Operation& o) {
  std::size_t target, source;
  if (!choose_pair(x, o, &target, &source)) return;
  const std::size_t stream = own_stream(o.operands[2]);
  const Buffer &t = x.buffers_[target], &s = x.buffers_[source];
  const std::size_t bytes = std::min(t.bytes, s.bytes);
  std::uint8_t* host = x.pinned(bytes);
  if (host == nullptr) return;
  x.order(stream, {source}, {target});
  x.line(o, cuStreamBeginCapture(x.streams_[stream], CU_STREAM_CAPTURE_MODE_RELAXED));
  x.line(o, cuMemcpyDtoDAsync(t.base, s.base, bytes, x.streams_[stream]));
  x.line(o, cuMemcpyDtoHAsync(host, t.base, bytes, x.streams_[stream]));
  CUgraph graph = nullptr;
  x.line(o, cuStreamEndCapture(x.streams_[stream], &graph));
  run_graph(x, o, graph, stream);
  x.line(o, CUDA_SUCCESS, hash_bytes(host, bytes));
}

void Operations::kGraphOfNodes(Executor& x, const Operation& o) {
  std::size_t target, source;
  if (!choose_pair(x, o, &target, &source)) return;
  const std::size_t stream = own_stream(o.operands[2]);
  x.order(stream, {}, {target, source});
  FillParameters fill(x.buffers_[source], o.operands[3]);
  const CUDA_KERNEL_NODE_PARAMS kernel = node_of(x.kernels_.fill, fill.all);
  CUDA_MEMSET_NODE_PARAMS set{};
  set.dst = x.buffers_[target].base;
  set.value = o.operands[4];
  set.elementSize = 4;
  set.width = x.buffers_[target].count();
  set.height = 1;
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = x.buffers_[source].base;
  copy.dstDevice = x.buffers_[target].base;
  copy.WidthInBytes = std::min(x.buffers_[source].bytes, x.buffers_[target].bytes) / 8 * 4;
  if (copy.WidthInBytes == 0) copy.WidthInBytes = 4;
  copy.Height = copy.Depth = 1;
  CUgraph graph = nullptr;
  CUgraphNode nodes[3] = {};
  x.line(o, cuGraphCreate(&graph, 0));
  x.line(o, cuGraphAddKernelNode(&nodes[0], graph, nullptr, 0, &kernel));
  x.line(o, cuGraphAddMemsetNode(&nodes[1], graph, nullptr, 0, &set, x.context_));
  x.line(o, cuGraphAddMemcpyNode(&nodes[2], graph, nodes, 2, &copy, x.context_));
  run_graph(x, o, graph, stream);
}

// The graph that `build` makes around a kernel that fills a buffer.
template <class Build>
void Operations::run_filling_graph(Executor& x, const Operation& o, const Build& build) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const std::size_t stream = own_stream(o.operands[1]);
  x.order(stream, {}, {buffer});
  FillParameters fill(x.buffers_[buffer], o.operands[2]);
  const CUDA_KERNEL_NODE_PARAMS kernel = node_of(x.kernels_.fill, fill.all);
  run_graph(x, o, build(kernel), stream);
}

void Operations::kGraphCloned(Executor& x, const Operation& o) {
  run_filling_graph(x, o, [&](const CUDA_KERNEL_NODE_PARAMS& kernel) {
    CUgraph graph = nullptr, clone = nullptr;
    CUgraphNode node = nullptr;
    x.line(o, cuGraphCreate(&graph, 0));
    x.line(o, cuGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
    x.line(o, cuGraphClone(&clone, graph));
    x.line(o, cuGraphDestroy(graph));
    return clone;
  });
}

void Operations::kGraphChild(Executor& x, const Operation& o) {
  run_filling_graph(x, o, [&](const CUDA_KERNEL_NODE_PARAMS& kernel) {
    CUgraph child = nullptr, graph = nullptr;
    CUgraphNode inner = nullptr, outer = nullptr;
    x.line(o, cuGraphCreate(&child, 0));
    x.line(o, cuGraphAddKernelNode(&inner, child, nullptr, 0, &kernel));
    x.line(o, cuGraphCreate(&graph, 0));
    x.line(o, cuGraphAddChildGraphNode(&outer, graph, nullptr, 0, child));
    x.line(o, cuGraphDestroy(child));
    return graph;
  });
}

// The executable graph is made to work on another buffer.
void Operations::kGraphUpdated(Executor& x, const Operation& o) {
  std::size_t first, second;
  if (!choose_pair(x, o, &first, &second)) return;
  const std::size_t stream = own_stream(o.operands[2]);
  x.order(stream, {}, {first, second});
  FillParameters before(x.buffers_[first], o.operands[3]), after(x.buffers_[second], o.operands[4]);
  CUDA_KERNEL_NODE_PARAMS kernel = node_of(x.kernels_.fill, before.all);
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec executable = nullptr;
  x.line(o, cuGraphCreate(&graph, 0));
  x.line(o, cuGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
  x.line(o, cuGraphInstantiate(&executable, graph, 0));
  x.line(o, cuGraphLaunch(executable, x.streams_[stream]));
  kernel.kernelParams = after.all;
  x.line(o, cuGraphExecKernelNodeSetParams(executable, node, &kernel));
  x.line(o, cuGraphLaunch(executable, x.streams_[stream]));
  x.line(o, cuStreamSynchronize(x.streams_[stream]));
  x.completed(stream);
  x.line(o, cuGraphExecDestroy(executable));
  x.line(o, cuGraphDestroy(graph));
}

namespace {
void increment(void* data) { ++*static_cast<std::uint32_t*>(data); }
}  // namespace

void Operations::kGraphHostNode(Executor& x, const Operation& o) {
  std::uint32_t calls = 0;
  const CUDA_HOST_NODE_PARAMS host{increment, &calls};
  CUgraph graph = nullptr;
  CUgraphNode nodes[2] = {};
  x.line(o, cuGraphCreate(&graph, 0));
  x.line(o, cuGraphAddEmptyNode(&nodes[0], graph, nullptr, 0));
  x.line(o, cuGraphAddHostNode(&nodes[1], graph, nodes, 1, &host));
  std::size_t count = 0;
  x.line(o, cuGraphGetNodes(graph, nullptr, &count), [&] { return count; });
  run_graph(x, o, graph, own_stream(o.operands[0]));
  x.line(o, CUDA_SUCCESS, calls);
}

// A wait for the stream that is captured ends the capture.
void Operations::kCaptureInvalidated(Executor& x, const Operation& o) {
  const std::size_t stream = own_stream(o.operands[0]);
  CUgraph graph = nullptr;
  x.line(o, cuStreamBeginCapture(x.streams_[stream], CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  x.line(o, cuStreamSynchronize(x.streams_[stream]));
  x.line(o, cuStreamEndCapture(x.streams_[stream], &graph));
  x.line(o, cuStreamSynchronize(x.streams_[stream]));
  x.completed(stream);
}

void Operations::kCaptureQueried(Executor& x, const Operation& o) {
  const std::size_t stream = own_stream(o.operands[0]);
  CUstreamCaptureStatus status{};
  x.line(o, cuStreamIsCapturing(x.streams_[stream], &status),
         [&] { return static_cast<std::uint64_t>(status); });
  x.line(o, cuStreamBeginCapture(x.streams_[stream], CU_STREAM_CAPTURE_MODE_RELAXED));
  x.line(o, cuStreamIsCapturing(x.streams_[stream], &status),
         [&] { return static_cast<std::uint64_t>(status); });
  CUgraph graph = nullptr;
  x.line(o, cuStreamEndCapture(x.streams_[stream], &graph));
  x.line(o, cuGraphDestroy(graph));
}

}  // namespace torture
