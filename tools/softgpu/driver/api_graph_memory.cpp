// Memory that a graph allocates and frees itself.
#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/graph_memory.hpp"
#include "tools/softgpu/driver/graph_parameters.hpp"

namespace softgpu::api {
namespace {

CUresult check_device(CUdevice device) {
  SOFTGPU_TRY(check_initialised());
  return device >= 0 && static_cast<std::size_t>(device) < machine().devices.size()
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_DEVICE;
}

}  // namespace

CUresult cuGraphAddMemAllocNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                std::size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS* nodeParams) {
  return add_made(phGraphNode, hGraph, dependencies, numDependencies,
                  [nodeParams](ContentsPtr* made) { return contents_of_allocation(nodeParams, made); });
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                               std::size_t numDependencies, CUdeviceptr dptr) {
  return add_made(phGraphNode, hGraph, dependencies, numDependencies,
                  [dptr](ContentsPtr* made) { return contents_of_free(dptr, made); });
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS* params_out) {
  return answer<AllocateNode>(hNode, params_out,
                              [](GraphNode&, const AllocateNode& made) { return made.parameters; });
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr* dptr_out) {
  return answer<FreeNode>(hNode, dptr_out, [](GraphNode&, const FreeNode& freed) { return freed.address; });
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
  SOFTGPU_TRY(check_device(device));
  return value == nullptr ? CUDA_ERROR_INVALID_VALUE
                          : get_graph_memory(device, attr, static_cast<cuuint64_t*>(value));
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
  SOFTGPU_TRY(check_device(device));
  if (value == nullptr || *static_cast<const cuuint64_t*>(value) != 0) return CUDA_ERROR_INVALID_VALUE;
  return reset_graph_memory(device, attr);
}

// A graph's memory goes with its last graph: there is none to spare before.
CUresult cuDeviceGraphMemTrim(CUdevice device) { return check_device(device); }

}  // namespace softgpu::api
