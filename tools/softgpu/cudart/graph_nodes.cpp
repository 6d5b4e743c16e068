// Graph nodes whose parameters the runtime and the driver describe differently.
#include "tools/softgpu/cudart/call.hpp"
#include "tools/softgpu/cudart/copy_parameters.hpp"
#include "tools/softgpu/cudart/registry.hpp"

using namespace softgpu::cudart;

namespace {

CUcontext current_context() {
  CUcontext context = nullptr;
  driver.cuCtxGetCurrent(&context);
  return context;
}

template <class Use>
cudaError_t with_kernel_parameters(const cudaKernelNodeParams& from, Use use) {
  return in_context([&]() -> cudaError_t {
    CUDA_KERNEL_NODE_PARAMS parameters{};
    const CUresult result = function_of(from.func, &parameters.func);
    if (result != CUDA_SUCCESS) return to_runtime(result);
    parameters.gridDimX = from.gridDim.x;
    parameters.gridDimY = from.gridDim.y;
    parameters.gridDimZ = from.gridDim.z;
    parameters.blockDimX = from.blockDim.x;
    parameters.blockDimY = from.blockDim.y;
    parameters.blockDimZ = from.blockDim.z;
    parameters.sharedMemBytes = from.sharedMemBytes;
    parameters.kernelParams = from.kernelParams;
    parameters.extra = from.extra;
    return to_runtime(use(&parameters));
  });
}

template <class Use>
cudaError_t with_copy_parameters(const cudaMemcpy3DParms& from, Use use) {
  return in_context([&] {
    CUDA_MEMCPY3D copy{};
    const CUresult result = copy_3d(from, &copy);
    return result == CUDA_SUCCESS ? use(&copy) : result;
  });
}

// A one-dimensional copy is a three-dimensional one of a single row.
cudaMemcpy3DParms one_row(void* to, const void* from, size_t count, cudaMemcpyKind kind) {
  cudaMemcpy3DParms parameters{};
  parameters.srcPtr = {const_cast<void*>(from), count, count, 1};
  parameters.dstPtr = {to, count, count, 1};
  parameters.extent = {count, 1, 1};
  parameters.kind = kind;
  return parameters;
}

}  // namespace

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   size_t count, const cudaKernelNodeParams* parameters) {
  return with_kernel_parameters(*parameters, [&](const CUDA_KERNEL_NODE_PARAMS* converted) {
    return driver.cuGraphAddKernelNode(node, graph, after, count, converted);
  });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* parameters) {
  return with_kernel_parameters(*parameters, [&](const CUDA_KERNEL_NODE_PARAMS* converted) {
    return driver.cuGraphKernelNodeSetParams(node, converted);
  });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  return with_kernel_parameters(*parameters, [&](const CUDA_KERNEL_NODE_PARAMS* converted) {
    return driver.cuGraphExecKernelNodeSetParams(executable, node, converted);
  });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   size_t count, const cudaMemcpy3DParms* parameters) {
  return with_copy_parameters(*parameters, [&](const CUDA_MEMCPY3D* copy) {
    return driver.cuGraphAddMemcpyNode(node, graph, after, count, copy, current_context());
  });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t after_count, void* to, const void* from, size_t count,
                                     cudaMemcpyKind kind) {
  const cudaMemcpy3DParms parameters = one_row(to, from, count, kind);
  return cudaGraphAddMemcpyNode(node, graph, after, after_count, &parameters);
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* parameters) {
  return with_copy_parameters(
      *parameters, [&](const CUDA_MEMCPY3D* copy) { return driver.cuGraphMemcpyNodeSetParams(node, copy); });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t count,
                                           cudaMemcpyKind kind) {
  const cudaMemcpy3DParms parameters = one_row(to, from, count, kind);
  return cudaGraphMemcpyNodeSetParams(node, &parameters);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* parameters) {
  return with_copy_parameters(*parameters, [&](const CUDA_MEMCPY3D* copy) {
    return driver.cuGraphExecMemcpyNodeSetParams(executable, node, copy, current_context());
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void* to,
                                               const void* from, size_t count, cudaMemcpyKind kind) {
  const cudaMemcpy3DParms parameters = one_row(to, from, count, kind);
  return cudaGraphExecMemcpyNodeSetParams(executable, node, &parameters);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                   size_t count, const cudaMemsetParams* parameters) {
  return in_context([&] {
    return driver.cuGraphAddMemsetNode(node, graph, after, count,
                                       same_layout<CUDA_MEMSET_NODE_PARAMS>(parameters), current_context());
  });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
  return in_context([&] {
    return driver.cuGraphExecMemsetNodeSetParams(
        executable, node, same_layout<CUDA_MEMSET_NODE_PARAMS>(parameters), current_context());
  });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                 size_t count, const cudaHostNodeParams* parameters) {
  return in_context([&] {
    return driver.cuGraphAddHostNode(node, graph, after, count,
                                     same_layout<CUDA_HOST_NODE_PARAMS>(parameters));
  });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
  return in_context([&] {
    return driver.cuGraphExecHostNodeSetParams(executable, node,
                                               same_layout<CUDA_HOST_NODE_PARAMS>(parameters));
  });
}
