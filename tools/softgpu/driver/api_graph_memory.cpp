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

template <class Kind>
CUresult find_kind(CUgraphNode handle, const void* result, const Kind** kind, GraphNodePtr* node) {
  SOFTGPU_TRY(find_node(handle, node));
  *kind = (*node)->as<Kind>();
  return *kind == nullptr || result == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace

CUresult cuGraphAddMemAllocNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                std::size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS* nodeParams) {
  ContentsPtr contents;
  SOFTGPU_TRY(contents_of_allocation(nodeParams, &contents));
  return add_node(phGraphNode, hGraph, dependencies, numDependencies, contents);
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                               std::size_t numDependencies, CUdeviceptr dptr) {
  ContentsPtr contents;
  SOFTGPU_TRY(contents_of_free(dptr, &contents));
  return add_node(phGraphNode, hGraph, dependencies, numDependencies, contents);
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS* params_out) {
  GraphNodePtr node;
  const AllocateNode* made = nullptr;
  SOFTGPU_TRY(find_kind(hNode, params_out, &made, &node));
  *params_out = made->parameters;
  return CUDA_SUCCESS;
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr* dptr_out) {
  GraphNodePtr node;
  const FreeNode* freed = nullptr;
  SOFTGPU_TRY(find_kind(hNode, dptr_out, &freed, &node));
  *dptr_out = freed->address;
  return CUDA_SUCCESS;
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
