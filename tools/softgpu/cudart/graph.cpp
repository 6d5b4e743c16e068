// Graphs as structures: making, linking, asking, instantiating. What needs translating is in graph_nodes.cpp.
#include "tools/softgpu/cudart/call.hpp"

using namespace softgpu::cudart;

// X(runtime function, driver function, the parameters, the arguments): the same call under two names.
// clang-format off
#define CUDART_SAME_CALLS(X)                                                                                  \
  X(cudaGraphCreate, cuGraphCreate, (cudaGraph_t* graph, unsigned int flags), (graph, flags))                 \
  X(cudaGraphDestroy, cuGraphDestroy, (cudaGraph_t graph), (graph))                                           \
  X(cudaGraphClone, cuGraphClone, (cudaGraph_t* clone, cudaGraph_t graph), (clone, graph))                    \
  X(cudaGraphInstantiateWithFlags, cuGraphInstantiateWithFlags,                                               \
    (cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags), (executable, graph, flags))   \
  X(cudaGraphInstantiate, cuGraphInstantiateWithFlags,                                                        \
    (cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags), (executable, graph, flags))   \
  X(cudaGraphExecDestroy, cuGraphExecDestroy, (cudaGraphExec_t executable), (executable))                     \
  X(cudaGraphDebugDotPrint, cuGraphDebugDotPrint, (cudaGraph_t graph, const char* path, unsigned int flags),  \
    (graph, path, flags))                                                                                     \
  X(cudaGraphAddEmptyNode, cuGraphAddEmptyNode,                                                               \
    (cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count),                   \
    (node, graph, after, count))                                                                              \
  X(cudaGraphAddChildGraphNode, cuGraphAddChildGraphNode,                                                     \
    (cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,                    \
     cudaGraph_t child), (node, graph, after, count, child))                                                  \
  X(cudaGraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph,                                           \
    (cudaGraphNode_t node, cudaGraph_t* graph), (node, graph))                                                \
  X(cudaGraphAddEventRecordNode, cuGraphAddEventRecordNode,                                                   \
    (cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,                    \
     cudaEvent_t event), (node, graph, after, count, event))                                                  \
  X(cudaGraphAddEventWaitNode, cuGraphAddEventWaitNode,                                                       \
    (cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,                    \
     cudaEvent_t event), (node, graph, after, count, event))                                                  \
  X(cudaGraphGetNodes, cuGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count),           \
    (graph, nodes, count))                                                                                    \
  X(cudaGraphGetRootNodes, cuGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count),   \
    (graph, nodes, count))                                                                                    \
  X(cudaGraphGetEdges, cuGraphGetEdges,                                                                       \
    (cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* edges, size_t* count), \
    (graph, from, to, same_layout<CUgraphEdgeData>(edges), count))                                            \
  X(cudaGraphNodeGetDependencies, cuGraphNodeGetDependencies,                                                 \
    (cudaGraphNode_t node, cudaGraphNode_t* others, cudaGraphEdgeData* edges, size_t* count),                 \
    (node, others, same_layout<CUgraphEdgeData>(edges), count))                                               \
  X(cudaGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes,                                             \
    (cudaGraphNode_t node, cudaGraphNode_t* others, cudaGraphEdgeData* edges, size_t* count),                 \
    (node, others, same_layout<CUgraphEdgeData>(edges), count))                                               \
  X(cudaGraphAddDependencies, cuGraphAddDependencies,                                                         \
    (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,                               \
     const cudaGraphEdgeData* edges, size_t count),                                                           \
    (graph, from, to, same_layout<CUgraphEdgeData>(edges), count))                                            \
  X(cudaGraphRemoveDependencies, cuGraphRemoveDependencies,                                                   \
    (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,                               \
     const cudaGraphEdgeData* edges, size_t count),                                                           \
    (graph, from, to, same_layout<CUgraphEdgeData>(edges), count))                                            \
  X(cudaGraphNodeGetType, cuGraphNodeGetType, (cudaGraphNode_t node, cudaGraphNodeType* type),                \
    (node, same_layout<CUgraphNodeType>(type)))                                                               \
  X(cudaGraphDestroyNode, cuGraphDestroyNode, (cudaGraphNode_t node), (node))                                 \
  X(cudaGraphNodeFindInClone, cuGraphNodeFindInClone,                                                         \
    (cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone), (node, original, clone))            \
  X(cudaGraphExecUpdate, cuGraphExecUpdate,                                                                   \
    (cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info),                     \
    (executable, graph, same_layout<CUgraphExecUpdateResultInfo>(info)))                                      \
  X(cudaGraphExecGetFlags, cuGraphExecGetFlags, (cudaGraphExec_t executable, unsigned long long* flags),      \
    (executable, same_layout<cuuint64_t>(flags)))                                                             \
  X(cudaGraphNodeSetEnabled, cuGraphNodeSetEnabled,                                                           \
    (cudaGraphExec_t executable, cudaGraphNode_t node, unsigned int enabled), (executable, node, enabled))    \
  X(cudaGraphNodeGetEnabled, cuGraphNodeGetEnabled,                                                           \
    (cudaGraphExec_t executable, cudaGraphNode_t node, unsigned int* enabled), (executable, node, enabled))   \
  X(cudaGraphMemsetNodeGetParams, cuGraphMemsetNodeGetParams,                                                 \
    (cudaGraphNode_t node, cudaMemsetParams* parameters),                                                     \
    (node, same_layout<CUDA_MEMSET_NODE_PARAMS>(parameters)))                                                 \
  X(cudaGraphMemsetNodeSetParams, cuGraphMemsetNodeSetParams,                                                 \
    (cudaGraphNode_t node, const cudaMemsetParams* parameters),                                               \
    (node, same_layout<CUDA_MEMSET_NODE_PARAMS>(parameters)))                                                 \
  X(cudaGraphHostNodeGetParams, cuGraphHostNodeGetParams,                                                     \
    (cudaGraphNode_t node, cudaHostNodeParams* parameters),                                                   \
    (node, same_layout<CUDA_HOST_NODE_PARAMS>(parameters)))                                                   \
  X(cudaGraphHostNodeSetParams, cuGraphHostNodeSetParams,                                                     \
    (cudaGraphNode_t node, const cudaHostNodeParams* parameters),                                             \
    (node, same_layout<CUDA_HOST_NODE_PARAMS>(parameters)))                                                   \
  X(cudaGraphAddMemAllocNode, cuGraphAddMemAllocNode,                                                         \
    (cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,                    \
     cudaMemAllocNodeParams* parameters),                                                                     \
    (node, graph, after, count, same_layout<CUDA_MEM_ALLOC_NODE_PARAMS>(parameters)))                         \
  X(cudaGraphAddMemFreeNode, cuGraphAddMemFreeNode,                                                           \
    (cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,                    \
     void* pointer), (node, graph, after, count, device_address(pointer)))                                    \
  X(cudaGraphEventRecordNodeGetEvent, cuGraphEventRecordNodeGetEvent,                                         \
    (cudaGraphNode_t node, cudaEvent_t* event),                                                               \
    (node, event))                                                                                            \
  X(cudaGraphEventRecordNodeSetEvent, cuGraphEventRecordNodeSetEvent,                                         \
    (cudaGraphNode_t node, cudaEvent_t event),                                                                \
    (node, event))                                                                                            \
  X(cudaGraphEventWaitNodeGetEvent, cuGraphEventWaitNodeGetEvent,                                             \
    (cudaGraphNode_t node, cudaEvent_t* event),                                                               \
    (node, event))                                                                                            \
  X(cudaGraphEventWaitNodeSetEvent, cuGraphEventWaitNodeSetEvent,                                             \
    (cudaGraphNode_t node, cudaEvent_t event),                                                                \
    (node, event))                                                                                            \
  X(cudaGraphExecEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent,                                 \
    (cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event),                                    \
    (executable, node, event))                                                                                \
  X(cudaGraphExecEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent,                                     \
    (cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event),                                    \
    (executable, node, event))                                                                                \
  X(cudaGraphMemAllocNodeGetParams, cuGraphMemAllocNodeGetParams,                                             \
    (cudaGraphNode_t node, cudaMemAllocNodeParams* parameters),                                               \
    (node, same_layout<CUDA_MEM_ALLOC_NODE_PARAMS>(parameters)))                                              \
  X(cudaGraphMemFreeNodeGetParams, cuGraphMemFreeNodeGetParams,                                               \
    (cudaGraphNode_t node, void* pointer),                                                                    \
    (node, static_cast<CUdeviceptr*>(pointer)))                                                               \
  X(cudaDeviceGetGraphMemAttribute, cuDeviceGetGraphMemAttribute,                                             \
    (int device, cudaGraphMemAttributeType attribute, void* value),                                           \
    (device, static_cast<CUgraphMem_attribute>(attribute), value))                                            \
  X(cudaDeviceSetGraphMemAttribute, cuDeviceSetGraphMemAttribute,                                             \
    (int device, cudaGraphMemAttributeType attribute, void* value),                                           \
    (device, static_cast<CUgraphMem_attribute>(attribute), value))                                            \
  X(cudaDeviceGraphMemTrim, cuDeviceGraphMemTrim, (int device), (device))                                     \
  X(cudaUserObjectCreate, cuUserObjectCreate,                                                                 \
    (cudaUserObject_t* object, void* data, cudaHostFn_t destroy, unsigned int count, unsigned int flags),     \
    (object, data, destroy, count, flags))                                                                    \
  X(cudaUserObjectRetain, cuUserObjectRetain, (cudaUserObject_t object, unsigned int count), (object, count)) \
  X(cudaUserObjectRelease, cuUserObjectRelease, (cudaUserObject_t object, unsigned int count),                \
    (object, count))                                                                                          \
  X(cudaGraphRetainUserObject, cuGraphRetainUserObject,                                                       \
    (cudaGraph_t graph, cudaUserObject_t object, unsigned int count, unsigned int flags),                     \
    (graph, object, count, flags))                                                                            \
  X(cudaGraphReleaseUserObject, cuGraphReleaseUserObject,                                                     \
    (cudaGraph_t graph, cudaUserObject_t object, unsigned int count), (graph, object, count))
// clang-format on

#define CUDART_DEFINE_SAME_CALL(name, driver_name, parameters, arguments) \
  cudaError_t name parameters {                                           \
    return in_context([&] { return driver.driver_name arguments; });      \
  }
CUDART_SAME_CALLS(CUDART_DEFINE_SAME_CALL)
