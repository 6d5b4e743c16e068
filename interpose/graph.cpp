// Graphs: instantiating, updating, launching; changing nodes of executable graphs; and the nodes whose
// addresses the driver judges when they are made. What touches what is read from the driver when a graph
// becomes executable, so that captured, built and cloned graphs are one case.
#include "interpose/capture.hpp"
#include "interpose/graph_execs.hpp"
#include "interpose/handlers.gen.hpp"

namespace tencache::doors {

namespace {

// Left as it is at the end of the process, when other threads may still be in a door.
GraphExecs& execs() {
  static GraphExecs& lasting = *new GraphExecs;
  return lasting;
}

NodeTouch all_of(const GraphContents& contents) {
  NodeTouch all;
  for (const auto& [node, touch] : contents.nodes) all.add(touch);
  return all;
}

// The call with the addresses that the driver judges where it judges them rightly. Nothing is enqueued.
template <class Call>
CUresult judged(const Visit& visit, const std::vector<CUdeviceptr>& copied, const Call& call) {
  if (copied.empty()) return visit.with_room(call);
  runtime::Access access{};
  access.kind = runtime::AccessKind::kGraph;
  access.recorded = true;
  access.stream = {CU_STREAM_LEGACY};
  access.pointers = copied;
  return visit.tell(access, call);
}

template <class Call>
CUresult instantiate(CUgraphExec* exec, CUgraph graph, cuuint64_t flags, const Call& call) {
  const Visit visit;
  if (!visit) return call();
  GraphContents contents = read_graph(graph, visit->arena());
  // Launched on the device, where nobody sees it.
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0) contents.nodes[nullptr].opaque = true;
  const CUresult result = judged(visit, all_of(contents).copied, call);
  if (result == CUDA_SUCCESS && exec != nullptr) execs().made(*exec, std::move(contents));
  return result;
}

template <class Call>
CUresult update(CUgraphExec exec, CUgraph graph, const Call& call) {
  const Visit visit;
  if (!visit) return call();
  const GraphContents contents = read_graph(graph, visit->arena());
  const CUresult result = judged(visit, all_of(contents).copied, call);
  execs().updated(exec, contents, result != CUDA_SUCCESS);
  return result;
}

// A node of an executable graph does something else from now on.
template <class Call>
CUresult change(const Visit& visit, CUgraphExec exec, CUgraphNode node, NodeTouch touch, const Call& call) {
  const CUresult result = judged(visit, touch.copied, call);
  if (result == CUDA_SUCCESS) execs().node_changed(exec, node, std::move(touch));
  return result;
}

template <class Parameters, class Call>
CUresult change(CUgraphExec exec, CUgraphNode node, const Parameters* parameters, const Call& call) {
  const Visit visit;
  if (!visit || parameters == nullptr) return call();
  return change(visit, exec, node, touch_of(*parameters, visit->arena()), call);
}

// A node of a graph is made, or gets other parameters.
template <class Parameters, class Call>
CUresult make(const Parameters* parameters, const Call& call) {
  const Visit visit;
  if (!visit || parameters == nullptr) return call();
  return judged(visit, touch_of(*parameters, visit->arena()).copied, call);
}

// In the parameters of CUDA 10 to 11 as in today's, what names the kernel and its arguments comes first.
CUDA_KERNEL_NODE_PARAMS widened(const CUDA_KERNEL_NODE_PARAMS_v1& old) {
  CUDA_KERNEL_NODE_PARAMS parameters{};
  parameters.func = old.func;
  parameters.kernelParams = old.kernelParams;
  parameters.extra = old.extra;
  return parameters;
}

}  // namespace

namespace handlers {

CUresult cuGraphInstantiate(const Genuine<decltype(&::cuGraphInstantiate_v2)>& driver, CUgraphExec* exec,
                            CUgraph graph, CUgraphNode* error_node, char* log, std::size_t size) noexcept {
  return instantiate(exec, graph, 0, [&] { return driver(exec, graph, error_node, log, size); });
}

CUresult cuGraphInstantiateWithFlags(const Genuine<decltype(&::cuGraphInstantiateWithFlags)>& driver,
                                     CUgraphExec* exec, CUgraph graph, unsigned long long flags) noexcept {
  return instantiate(exec, graph, flags, [&] { return driver(exec, graph, flags); });
}

CUresult cuGraphInstantiateWithParams(const Genuine<decltype(&::cuGraphInstantiateWithParams)>& driver,
                                      CUgraphExec* exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) noexcept {
  return instantiate(exec, graph, parameters == nullptr ? 0 : parameters->flags,
                     [&] { return driver(exec, graph, parameters); });
}

CUresult cuGraphExecUpdate(const Genuine<decltype(&::cuGraphExecUpdate)>& driver, CUgraphExec exec,
                           CUgraph graph, CUgraphNode* error_node, CUgraphExecUpdateResult* answer) noexcept {
  return update(exec, graph, [&] { return driver(exec, graph, error_node, answer); });
}

CUresult cuGraphExecUpdate(const Genuine<decltype(&::cuGraphExecUpdate_v2)>& driver, CUgraphExec exec,
                           CUgraph graph, CUgraphExecUpdateResultInfo* info) noexcept {
  return update(exec, graph, [&] { return driver(exec, graph, info); });
}

CUresult cuGraphExecDestroy(const Genuine<decltype(&::cuGraphExecDestroy)>& driver,
                            CUgraphExec exec) noexcept {
  const Visit visit;
  if (visit) execs().gone(exec);
  return driver(exec);
}

CUresult cuGraphLaunch(const Genuine<decltype(&::cuGraphLaunch)>& driver, CUgraphExec exec,
                       CUstream stream) noexcept {
  const Visit visit;
  const auto call = [&] { return driver(exec, stream); };
  if (!visit) return call();
  const std::shared_ptr<const GraphTouch> touch = execs().touch(exec);
  const auto describe = [&] {
    runtime::Access access{};
    access.kind = runtime::AccessKind::kGraph;
    access.stream = driver.stream(stream);
    access.opaque = touch == nullptr || touch->opaque;
    access.waits_for_host = touch == nullptr || touch->waits_for_host;
    if (touch != nullptr) {
      access.pointers = touch->pointers;
      access.signature = touch->signature;
    }
    return access;
  };
  const bool light = touch != nullptr && !touch->opaque && !touch->waits_for_host;
  if (!light) return visit.access(describe(), call);
  return visit.access_light(driver.stream(stream), touch->pointers, describe, call);
}

CUresult cuGraphExecKernelNodeSetParams(const Genuine<decltype(&::cuGraphExecKernelNodeSetParams)>& driver,
                                        CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* parameters) noexcept {
  const CUDA_KERNEL_NODE_PARAMS wide =
      parameters == nullptr ? CUDA_KERNEL_NODE_PARAMS{} : widened(*parameters);
  return change(exec, node, parameters == nullptr ? nullptr : &wide,
                [&] { return driver(exec, node, parameters); });
}

CUresult cuGraphExecKernelNodeSetParams(const Genuine<decltype(&::cuGraphExecKernelNodeSetParams_v2)>& driver,
                                        CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS* parameters) noexcept {
  return change(exec, node, parameters, [&] { return driver(exec, node, parameters); });
}

CUresult cuGraphExecMemcpyNodeSetParams(const Genuine<decltype(&::cuGraphExecMemcpyNodeSetParams)>& driver,
                                        CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D* parameters,
                                        CUcontext context) noexcept {
  return change(exec, node, parameters, [&] { return driver(exec, node, parameters, context); });
}

CUresult cuGraphExecMemsetNodeSetParams(const Genuine<decltype(&::cuGraphExecMemsetNodeSetParams)>& driver,
                                        CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* parameters,
                                        CUcontext context) noexcept {
  return change(exec, node, parameters, [&] { return driver(exec, node, parameters, context); });
}

CUresult cuGraphExecNodeSetParams(const Genuine<decltype(&::cuGraphExecNodeSetParams)>& driver,
                                  CUgraphExec exec, CUgraphNode node,
                                  CUgraphNodeParams* parameters) noexcept {
  return change(exec, node, parameters, [&] { return driver(exec, node, parameters); });
}

CUresult cuGraphExecChildGraphNodeSetParams(
    const Genuine<decltype(&::cuGraphExecChildGraphNodeSetParams)>& driver, CUgraphExec exec,
    CUgraphNode node, CUgraph child) noexcept {
  const Visit visit;
  const auto call = [&] { return driver(exec, node, child); };
  if (!visit) return call();
  return change(visit, exec, node, all_of(read_graph(child, visit->arena())), call);
}

CUresult cuGraphAddMemcpyNode(const Genuine<decltype(&::cuGraphAddMemcpyNode)>& driver, CUgraphNode* node,
                              CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                              const CUDA_MEMCPY3D* parameters, CUcontext context) noexcept {
  return make(parameters, [&] { return driver(node, graph, dependencies, count, parameters, context); });
}

CUresult cuGraphMemcpyNodeSetParams(const Genuine<decltype(&::cuGraphMemcpyNodeSetParams)>& driver,
                                    CUgraphNode node, const CUDA_MEMCPY3D* parameters) noexcept {
  return make(parameters, [&] { return driver(node, parameters); });
}

CUresult cuGraphAddMemsetNode(const Genuine<decltype(&::cuGraphAddMemsetNode)>& driver, CUgraphNode* node,
                              CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* parameters, CUcontext context) noexcept {
  return make(parameters, [&] { return driver(node, graph, dependencies, count, parameters, context); });
}

CUresult cuGraphMemsetNodeSetParams(const Genuine<decltype(&::cuGraphMemsetNodeSetParams)>& driver,
                                    CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* parameters) noexcept {
  return make(parameters, [&] { return driver(node, parameters); });
}

CUresult cuGraphAddNode(const Genuine<decltype(&::cuGraphAddNode)>& driver, CUgraphNode* node, CUgraph graph,
                        const CUgraphNode* dependencies, std::size_t count,
                        CUgraphNodeParams* parameters) noexcept {
  return make(parameters, [&] { return driver(node, graph, dependencies, count, parameters); });
}

CUresult cuGraphAddNode(const Genuine<decltype(&::cuGraphAddNode_v2)>& driver, CUgraphNode* node,
                        CUgraph graph, const CUgraphNode* dependencies, const CUgraphEdgeData* edges,
                        std::size_t count, CUgraphNodeParams* parameters) noexcept {
  return make(parameters, [&] { return driver(node, graph, dependencies, edges, count, parameters); });
}

CUresult cuGraphNodeSetParams(const Genuine<decltype(&::cuGraphNodeSetParams)>& driver, CUgraphNode node,
                              CUgraphNodeParams* parameters) noexcept {
  return make(parameters, [&] { return driver(node, parameters); });
}

}  // namespace handlers
}  // namespace tencache::doors
