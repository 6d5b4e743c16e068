#include "tools/softgpu/driver/graph_parameters.hpp"

#include <algorithm>
#include <utility>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/copy_plan.hpp"
#include "tools/softgpu/driver/graph_memory.hpp"

namespace softgpu {
namespace {

// A kernel of a library stands for its function in the current context.
CUresult find_kernel(const CUDA_KERNEL_NODE_PARAMS_v2& parameters, KernelNode* node) {
  node->function = parameters.func;
  node->kernel = parameters.func == nullptr ? parameters.kern : nullptr;
  const CUfunction handle =
      parameters.func != nullptr ? parameters.func : reinterpret_cast<CUfunction>(parameters.kern);
  return find_function(handle, &node->launch.function);
}

CUresult same_kind(const GraphNode& node, const ContentsPtr& contents) {
  const bool same = node.contents->what.index() == contents->what.index();
  return same && node.as<ChildNode>() == nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult find_graph(CUgraph handle, GraphPtr* graph) {
  SOFTGPU_TRY(check_initialised());
  *graph = Graphs::instance().find(handle);
  return *graph == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult find_node(CUgraphNode handle, GraphNodePtr* node) {
  SOFTGPU_TRY(check_initialised());
  *node = GraphNodes::instance().find(handle);
  return *node == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult find_exec(CUgraphExec handle, GraphExecPtr* exec) {
  SOFTGPU_TRY(check_initialised());
  *exec = GraphExecs::instance().find(handle);
  return *exec == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult find_dependencies(const Graph& graph, const CUgraphNode* handles, std::size_t count,
                           std::vector<GraphNode*>* nodes) {
  if (handles == nullptr && count > 0) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    GraphNodePtr node;
    SOFTGPU_TRY(find_node(handles[i], &node));
    const bool twice = std::find(nodes->begin(), nodes->end(), node.get()) != nodes->end();
    if (!graph.has(node.get()) || twice) return CUDA_ERROR_INVALID_VALUE;
    nodes->push_back(node.get());
  }
  return CUDA_SUCCESS;
}

CUresult contents_of(const CUDA_KERNEL_NODE_PARAMS_v2* parameters, ContentsPtr* contents) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (parameters->kernelParams != nullptr && parameters->extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
  KernelNode node;
  SOFTGPU_TRY(find_kernel(*parameters, &node));
  node.launch.grid = {parameters->gridDimX, parameters->gridDimY, parameters->gridDimZ};
  node.launch.block = {parameters->blockDimX, parameters->blockDimY, parameters->blockDimZ};
  node.launch.dynamic_shared = parameters->sharedMemBytes;
  SOFTGPU_TRY(check_launch(node.launch));
  SOFTGPU_TRY(read_parameters(node.launch, parameters->kernelParams, parameters->extra));
  *contents = contents_of(std::move(node));
  return CUDA_SUCCESS;
}

CUresult contents_of(const CUDA_MEMCPY3D* parameters, ContentsPtr* contents) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CopyNode node;
  Claims claims;
  SOFTGPU_TRY(plan_copy(*parameters, &node.plan, &claims));
  if (node.plan.bytes() == 0) return CUDA_ERROR_INVALID_VALUE;
  SOFTGPU_TRY(judge_copy(claims, &node.plan));
  *contents = contents_of(std::move(node));
  return CUDA_SUCCESS;
}

CUresult contents_of(const CUDA_MEMSET_NODE_PARAMS_v1* parameters, ContentsPtr* contents) {
  if (parameters == nullptr || parameters->width == 0 || parameters->height == 0)
    return CUDA_ERROR_INVALID_VALUE;
  const unsigned element = parameters->elementSize;
  if (element != 1 && element != 2 && element != 4) return CUDA_ERROR_INVALID_VALUE;
  FillPlan plan;
  plan.address = parameters->dst;
  plan.pitch = parameters->height > 1 ? parameters->pitch : 0;
  plan.value = parameters->value;
  plan.element = element;
  plan.width = parameters->width;
  plan.height = parameters->height;
  SOFTGPU_TRY(judge_fill(plan, nullptr));
  *contents = contents_of(FillNode{plan});
  return CUDA_SUCCESS;
}

CUresult contents_of(const CUDA_HOST_NODE_PARAMS_v1* parameters, ContentsPtr* contents) {
  if (parameters == nullptr || parameters->fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *contents = contents_of(HostNode{parameters->fn, parameters->userData});
  return CUDA_SUCCESS;
}

// The child is a copy, as it is now.
CUresult contents_of_child(CUgraph handle, ContentsPtr* contents) {
  GraphPtr graph;
  SOFTGPU_TRY(find_graph(handle, &graph));
  if (graph->has_memory_nodes()) return api::refuse("a child graph with memory nodes");
  GraphPtr child = clone(*graph);
  child->is_child = true;
  Graphs::instance().add(child);
  *contents = contents_of(ChildNode{std::move(child)});
  return CUDA_SUCCESS;
}

CUresult contents_of_event(CUevent event, bool waits, ContentsPtr* contents) {
  SOFTGPU_TRY(check_initialised());
  if (Events::instance().find(event) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *contents = contents_of(EventNode{event, waits});
  return CUDA_SUCCESS;
}

CUresult contents_of_allocation(CUDA_MEM_ALLOC_NODE_PARAMS* parameters, ContentsPtr* contents) {
  ContextPtr context;
  SOFTGPU_TRY(current_context(&context));
  if (parameters == nullptr || parameters->bytesize == 0) return CUDA_ERROR_INVALID_VALUE;
  const CUmemPoolProps& pool = parameters->poolProps;
  if (pool.allocType != CU_MEM_ALLOCATION_TYPE_PINNED || pool.handleTypes != CU_MEM_HANDLE_TYPE_NONE ||
      pool.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return CUDA_ERROR_INVALID_VALUE;
  if (pool.location.id < 0 || static_cast<std::size_t>(pool.location.id) >= machine().devices.size())
    return CUDA_ERROR_INVALID_VALUE;
  AllocateNode node;
  SOFTGPU_TRY(make_graph_allocation(pool.location.id, reinterpret_cast<CUcontext>(context.get()),
                                    parameters->bytesize, &node.allocation));
  parameters->dptr = node.allocation->address;
  node.parameters = *parameters;
  *contents = contents_of(std::move(node));
  return CUDA_SUCCESS;
}

CUresult contents_of_free(CUdeviceptr address, ContentsPtr* contents) {
  SOFTGPU_TRY(check_initialised());
  FreeNode node{address, find_graph_allocation(address)};
  if (node.allocation == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *contents = contents_of(std::move(node));
  return CUDA_SUCCESS;
}

CUresult contents_of(CUgraphNodeParams* parameters, ContentsPtr* contents) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (parameters->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return contents_of(reinterpret_cast<const CUDA_KERNEL_NODE_PARAMS_v2*>(&parameters->kernel), contents);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return contents_of(&parameters->memcpy.copyParams, contents);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return contents_of(reinterpret_cast<const CUDA_MEMSET_NODE_PARAMS_v1*>(&parameters->memset), contents);
    case CU_GRAPH_NODE_TYPE_HOST:
      return contents_of(reinterpret_cast<const CUDA_HOST_NODE_PARAMS_v1*>(&parameters->host), contents);
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return contents_of_child(parameters->graph.graph, contents);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      *contents = contents_of(EmptyNode{});
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return contents_of_event(parameters->eventWait.event, true, contents);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return contents_of_event(parameters->eventRecord.event, false, contents);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return contents_of_allocation(reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS*>(&parameters->alloc),
                                    contents);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return contents_of_free(parameters->free.dptr, contents);
    default:
      return api::refuse("a node of this kind in a graph");
  }
}

CUDA_KERNEL_NODE_PARAMS_v2 describe_kernel(GraphNode& node) {
  const KernelNode& kernel = *node.as<KernelNode>();
  const KernelInfo& info = kernel.launch.function->info();
  node.parameter_bytes = kernel.launch.parameters;
  node.parameter_pointers.clear();
  for (const ParameterInfo& parameter : info.parameters)
    node.parameter_pointers.push_back(node.parameter_bytes.data() + parameter.offset);
  CUDA_KERNEL_NODE_PARAMS_v2 parameters{};
  parameters.func = kernel.function;
  parameters.kern = kernel.kernel;
  parameters.gridDimX = kernel.launch.grid[0];
  parameters.gridDimY = kernel.launch.grid[1];
  parameters.gridDimZ = kernel.launch.grid[2];
  parameters.blockDimX = kernel.launch.block[0];
  parameters.blockDimY = kernel.launch.block[1];
  parameters.blockDimZ = kernel.launch.block[2];
  parameters.sharedMemBytes = kernel.launch.dynamic_shared;
  parameters.kernelParams = node.parameter_pointers.data();
  parameters.ctx = kernel.launch.function->context;
  return parameters;
}

CUDA_MEMSET_NODE_PARAMS_v1 describe_fill(const FillPlan& plan) {
  CUDA_MEMSET_NODE_PARAMS_v1 parameters{};
  parameters.dst = plan.address;
  parameters.pitch = plan.pitch;
  parameters.value = plan.value;
  parameters.elementSize = static_cast<unsigned>(plan.element);
  parameters.width = plan.width;
  parameters.height = plan.height;
  return parameters;
}

CUresult add_node(CUgraphNode* result, CUgraph handle, const CUgraphNode* dependencies, std::size_t count,
                  const ContentsPtr& contents) {
  GraphPtr graph;
  SOFTGPU_TRY(find_graph(handle, &graph));
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode*> after;
  SOFTGPU_TRY(find_dependencies(*graph, dependencies, count, &after));
  *result = handle_of(graph->add(contents, std::move(after)));
  return CUDA_SUCCESS;
}

CUresult set_contents(CUgraphNode handle, const ContentsPtr& contents) {
  GraphNodePtr node;
  SOFTGPU_TRY(find_node(handle, &node));
  SOFTGPU_TRY(same_kind(*node, contents));
  node->contents = contents;
  return CUDA_SUCCESS;
}

CUresult set_contents(CUgraphExec exec_handle, CUgraphNode handle, const ContentsPtr& contents) {
  GraphExecPtr exec;
  SOFTGPU_TRY(find_exec(exec_handle, &exec));
  GraphNodePtr node;
  SOFTGPU_TRY(find_node(handle, &node));
  const auto own = exec->own.find(node.get());
  if (own == exec->own.end()) return CUDA_ERROR_INVALID_VALUE;
  SOFTGPU_TRY(same_kind(*own->second, contents));
  own->second->contents = contents;
  exec->stale = true;
  return CUDA_SUCCESS;
}

}  // namespace softgpu
