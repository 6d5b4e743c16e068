#include "interpose/graph_reader.hpp"

#include <cstring>

#include "interpose/kernels.hpp"
#include "interpose/process.hpp"
#include "interpose/signature.hpp"
#include "interpose/spans.hpp"

namespace tencache::doors {

namespace {

NodeTouch opaque() {
  NodeTouch touch;
  touch.opaque = true;
  return touch;
}

NodeTouch waiting() {
  NodeTouch touch;
  touch.waits_for_host = true;
  return touch;
}

// Another version of the same parameters, that begins alike.
template <class Parameters, class Other>
Parameters as(const Other& other) {
  static_assert(sizeof(Parameters) <= sizeof(Other));
  Parameters parameters;
  std::memcpy(&parameters, &other, sizeof(parameters));
  return parameters;
}

void add_copied(CUdeviceptr address, const runtime::Arena& arena, NodeTouch* touch) {
  if (address - arena.base >= arena.size) return;
  touch->pointers.push_back(address);
  touch->copied.push_back(address);
}

// A kernel whose parameters other kernels may change.
bool is_changed_on_device(const Driver& driver, CUgraphNode node) {
  if (driver.cuGraphKernelNodeGetAttribute == nullptr) return true;
  CUkernelNodeAttrValue value{};
  const CUresult result =
      driver.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value);
  return result == CUDA_SUCCESS && value.deviceUpdatableKernelNode.deviceUpdatable != 0;
}

// Asks for a node's parameters; where that fails the node is opaque.
template <class Parameters, class Ask>
NodeTouch ask(CUgraphNode node, Ask* question, const runtime::Arena& arena) {
  Parameters parameters{};
  if (question == nullptr || question(node, &parameters) != CUDA_SUCCESS) return opaque();
  return touch_of(parameters, arena);
}

class Reader {
 public:
  explicit Reader(const runtime::Arena& arena) : driver_(genuine_driver()), arena_(arena) {}

  bool nodes_of(CUgraph graph, std::vector<CUgraphNode>* nodes) const {
    std::size_t count = 0;
    if (driver_.cuGraphGetNodes == nullptr) return false;
    if (driver_.cuGraphGetNodes(graph, nullptr, &count) != CUDA_SUCCESS) return false;
    nodes->resize(count);
    return count == 0 || driver_.cuGraphGetNodes(graph, nodes->data(), &count) == CUDA_SUCCESS;
  }

  NodeTouch read(CUgraphNode node) {
    CUgraphNodeType type{};
    if (driver_.cuGraphNodeGetType == nullptr || driver_.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS)
      return opaque();
    signature_ = mix(signature_, type);
    switch (type) {
      case CU_GRAPH_NODE_TYPE_KERNEL:
        return kernel(node);
      case CU_GRAPH_NODE_TYPE_MEMCPY:
        return ask<CUDA_MEMCPY3D>(node, driver_.cuGraphMemcpyNodeGetParams, arena_);
      case CU_GRAPH_NODE_TYPE_MEMSET:
        return ask<CUDA_MEMSET_NODE_PARAMS>(node, driver_.cuGraphMemsetNodeGetParams, arena_);
      case CU_GRAPH_NODE_TYPE_GRAPH:
        return child(node);
      case CU_GRAPH_NODE_TYPE_HOST:
      case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return waiting();
      case CU_GRAPH_NODE_TYPE_EMPTY:
      case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
      case CU_GRAPH_NODE_TYPE_MEM_ALLOC:  // the driver's own memory, never ours
      case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return {};
      default:  // waits for values, conditions, what comes with later drivers
        return unknown();
    }
  }

  [[nodiscard]] std::uint64_t signature() const { return signature_; }

 private:
  static NodeTouch unknown() {
    NodeTouch touch = opaque();
    touch.waits_for_host = true;
    return touch;
  }

  NodeTouch kernel(CUgraphNode node) {
    CUDA_KERNEL_NODE_PARAMS parameters{};
    const auto question = driver_.cuGraphKernelNodeGetParams_v2;
    if (question == nullptr || question(node, &parameters) != CUDA_SUCCESS) return opaque();
    const auto function = reinterpret_cast<std::uintptr_t>(parameters.func);
    signature_ =
        mix(signature_, function != 0 ? function : reinterpret_cast<std::uintptr_t>(parameters.kern));
    return is_changed_on_device(driver_, node) ? opaque() : touch_of(parameters, arena_);
  }

  NodeTouch child(CUgraphNode node) {
    CUgraph graph = nullptr;
    std::vector<CUgraphNode> nodes;
    const auto question = driver_.cuGraphChildGraphNodeGetGraph;
    if (question == nullptr || question(node, &graph) != CUDA_SUCCESS || !nodes_of(graph, &nodes))
      return opaque();
    NodeTouch sum;
    for (const CUgraphNode inner : nodes) sum.add(read(inner));
    return sum;
  }

  const Driver& driver_;
  const runtime::Arena arena_;
  std::uint64_t signature_ = 0;
};

}  // namespace

void NodeTouch::add(const NodeTouch& other) {
  pointers.insert(pointers.end(), other.pointers.begin(), other.pointers.end());
  copied.insert(copied.end(), other.copied.begin(), other.copied.end());
  opaque = opaque || other.opaque;
  waits_for_host = waits_for_host || other.waits_for_host;
}

GraphContents read_graph(CUgraph graph, const runtime::Arena& arena) noexcept {
  GraphContents contents;
  Reader reader(arena);
  std::vector<CUgraphNode> nodes;
  if (!reader.nodes_of(graph, &nodes)) {
    contents.nodes[nullptr] = opaque();
    return contents;
  }
  for (const CUgraphNode node : nodes) contents.nodes.emplace(node, reader.read(node));
  contents.signature = reader.signature() | 1;
  return contents;
}

NodeTouch touch_of(const CUDA_KERNEL_NODE_PARAMS& parameters, const runtime::Arena& arena) noexcept {
  const CUfunction function =
      parameters.func != nullptr ? parameters.func : reinterpret_cast<CUfunction>(parameters.kern);
  NodeTouch touch;
  PointerList pointers;
  touch.opaque =
      !read_kernel_parameters(function, parameters.kernelParams, parameters.extra, arena, &pointers);
  touch.pointers.assign(pointers.pointers().begin(), pointers.pointers().end());
  return touch;
}

NodeTouch touch_of(const CUDA_MEMCPY3D& parameters, const runtime::Arena& arena) noexcept {
  const ShapedCopy spans = spans_of(parameters);
  NodeTouch touch;
  add_copied(spans.destination.address, arena, &touch);
  add_copied(spans.source.address, arena, &touch);
  return touch;
}

NodeTouch touch_of(const CUDA_MEMSET_NODE_PARAMS& parameters, const runtime::Arena& arena) noexcept {
  NodeTouch touch;
  add_copied(parameters.dst, arena, &touch);
  return touch;
}

NodeTouch touch_of(const CUgraphNodeParams& parameters, const runtime::Arena& arena) noexcept {
  switch (parameters.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return touch_of(as<CUDA_KERNEL_NODE_PARAMS>(parameters.kernel), arena);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return touch_of(parameters.memcpy.copyParams, arena);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return touch_of(as<CUDA_MEMSET_NODE_PARAMS>(parameters.memset), arena);
    case CU_GRAPH_NODE_TYPE_HOST:
      return waiting();
    default:
      return opaque();
  }
}

}  // namespace tencache::doors
