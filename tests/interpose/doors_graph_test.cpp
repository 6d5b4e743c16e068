// Graphs: what an executable graph is told to touch, however it was made, changed and updated, and what of a
// node's addresses is told when the driver judges them.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "tests/interpose/doors_fixture.hpp"

namespace {

using doors_test::kArena;
using doors_test::kStream;
using doors_test::the_runtime;
using tencache::runtime::AccessKind;
using Addresses = std::vector<CUdeviceptr>;
using Doors = doors_test::DoorsTest;

constexpr CUdeviceptr kForeign = 0x300000000000;

// What the driver of this test says of nodes: a handle is a pointer to one of these.
struct Node {
  CUgraphNodeType type;
  CUdeviceptr destination = 0;
  CUdeviceptr source = 0;
  std::vector<Node>* graph = nullptr;
  bool device_updatable = false;
  bool unreadable = false;
};
using Graph = std::vector<Node>;

Node* node_of(CUgraphNode handle) { return reinterpret_cast<Node*>(handle); }
CUgraphNode handle_of(Node& node) { return reinterpret_cast<CUgraphNode>(&node); }
CUgraph handle_of(Graph& graph) { return reinterpret_cast<CUgraph>(&graph); }

CUresult get_nodes(CUgraph handle, CUgraphNode* nodes, std::size_t* count) {
  Graph& graph = *reinterpret_cast<Graph*>(handle);
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; nodes != nullptr && i < graph.size(); ++i) nodes[i] = handle_of(graph[i]);
  *count = graph.size();
  return CUDA_SUCCESS;
}
CUresult get_type(CUgraphNode node, CUgraphNodeType* type) {
  *type = node_of(node)->type;
  return node_of(node)->unreadable ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult get_child(CUgraphNode node, CUgraph* graph) {
  *graph = handle_of(*node_of(node)->graph);
  return CUDA_SUCCESS;
}
CUresult get_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* parameters) {
  static void* argument;
  argument = &node_of(node)->destination;
  parameters->func = reinterpret_cast<CUfunction>(0x10);
  parameters->kernelParams = &argument;
  return CUDA_SUCCESS;
}
CUresult get_attribute(CUgraphNode node, CUkernelNodeAttrID, CUkernelNodeAttrValue* value) {
  value->deviceUpdatableKernelNode.deviceUpdatable = node_of(node)->device_updatable ? 1 : 0;
  return CUDA_SUCCESS;
}
CUresult get_copy(CUgraphNode node, CUDA_MEMCPY3D* parameters) {
  parameters->dstMemoryType = parameters->srcMemoryType = CU_MEMORYTYPE_DEVICE;
  parameters->dstDevice = node_of(node)->destination;
  parameters->srcDevice = node_of(node)->source;
  parameters->WidthInBytes = parameters->Height = parameters->Depth = 1;
  return CUDA_SUCCESS;
}
CUresult get_fill(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* parameters) {
  parameters->dst = node_of(node)->destination;
  return CUDA_SUCCESS;
}
// One parameter, a pointer.
CUresult get_parameter(CUfunction, std::size_t index, std::size_t* offset, std::size_t* size) {
  *offset = 0;
  *size = 8;
  return index == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Where an exec is made: a handle that no other has.
std::uintptr_t last_exec = 0x100000;
CUresult make_exec(CUgraphExec* exec) {
  *exec = reinterpret_cast<CUgraphExec>(last_exec += 16);
  return CUDA_SUCCESS;
}
CUresult instantiate_logged(CUgraphExec* exec, CUgraph, CUgraphNode*, char*, std::size_t) {
  return make_exec(exec);
}
CUresult instantiate_flagged(CUgraphExec* exec, CUgraph, unsigned long long) { return make_exec(exec); }
CUresult instantiate_described(CUgraphExec* exec, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS*) {
  return make_exec(exec);
}

const bool replaced = [] {
  const auto put = [](const char* symbol, auto* function) {
    doors_test::replace(symbol, reinterpret_cast<void*>(function));
  };
  put("cuGraphGetNodes", &get_nodes);
  put("cuGraphNodeGetType", &get_type);
  put("cuGraphChildGraphNodeGetGraph", &get_child);
  put("cuGraphKernelNodeGetParams_v2", &get_kernel);
  put("cuGraphKernelNodeGetAttribute", &get_attribute);
  put("cuGraphMemcpyNodeGetParams", &get_copy);
  put("cuGraphMemsetNodeGetParams", &get_fill);
  put("cuFuncGetParamInfo", &get_parameter);
  put("cuGraphInstantiate", &instantiate_logged);
  put("cuGraphInstantiate_v2", &instantiate_logged);
  put("cuGraphInstantiateWithFlags", &instantiate_flagged);
  put("cuGraphInstantiateWithParams", &instantiate_described);
  put("cuGraphInstantiateWithParams_ptsz", &instantiate_described);
  return true;
}();

CUgraphExec instantiate(Graph& graph, unsigned long long flags = 0) {
  CUgraphExec exec = nullptr;
  EXPECT_EQ(DOOR(cuGraphInstantiateWithFlags)(&exec, handle_of(graph), flags), CUDA_SUCCESS);
  return exec;
}

// What a launch of it is told as.
doors_test::Seen launched(CUgraphExec exec) {
  EXPECT_EQ(DOOR(cuGraphLaunch)(exec, kStream), CUDA_SUCCESS);
  doors_test::Seen seen = the_runtime().seen.back();
  EXPECT_EQ(seen.access.kind, AccessKind::kGraph);
  EXPECT_EQ(seen.access.stream.handle, kStream);
  EXPECT_FALSE(seen.access.recorded);
  return seen;
}

Addresses sorted(Addresses addresses) {
  std::sort(addresses.begin(), addresses.end());
  return addresses;
}

// The addresses that were told as those that the driver judges now; empty: none were.
Addresses judged() {
  if (the_runtime().seen.empty()) return {};
  const doors_test::Seen seen = the_runtime().seen.back();
  EXPECT_TRUE(seen.access.recorded);
  EXPECT_EQ(seen.access.kind, AccessKind::kGraph);
  the_runtime().seen.clear();
  return sorted(seen.pointers);
}

Node fill(CUdeviceptr destination) { return {CU_GRAPH_NODE_TYPE_MEMSET, destination}; }
Node copy(CUdeviceptr destination, CUdeviceptr source) {
  return {CU_GRAPH_NODE_TYPE_MEMCPY, destination, source};
}
Node kernel(CUdeviceptr pointer) { return {CU_GRAPH_NODE_TYPE_KERNEL, pointer}; }

TEST_F(Doors, HoweverItIsInstantiatedAGraphTouchesWhatItsNodesTouch) {
  Graph inner{fill(kArena + 5), kernel(kArena + 6)};
  Graph graph{fill(kArena + 1),
              copy(kArena + 2, kArena + 3),
              kernel(kArena + 4),
              fill(kForeign),
              {CU_GRAPH_NODE_TYPE_GRAPH, 0, 0, &inner},
              {CU_GRAPH_NODE_TYPE_EMPTY},
              fill(kArena + 1)};
  const CUgraph handle = handle_of(graph);
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  std::array<CUgraphExec, 5> execs{};
  EXPECT_EQ(DOOR(cuGraphInstantiate)(&execs[0], handle, nullptr, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuGraphInstantiate_v2)(&execs[1], handle, nullptr, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuGraphInstantiateWithFlags)(&execs[2], handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuGraphInstantiateWithParams)(&execs[3], handle, &parameters), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuGraphInstantiateWithParams_ptsz)(&execs[4], handle, &parameters), CUDA_SUCCESS);
  ASSERT_EQ(the_runtime().seen.size(), execs.size());
  for (const doors_test::Seen& seen : the_runtime().seen) {
    EXPECT_TRUE(seen.access.recorded);
    EXPECT_EQ(sorted(seen.pointers), (Addresses{kArena + 1, kArena + 1, kArena + 2, kArena + 3, kArena + 5}));
  }
  for (const CUgraphExec exec : execs) {
    const doors_test::Seen seen = launched(exec);
    EXPECT_EQ(seen.pointers,
              (Addresses{kArena + 1, kArena + 2, kArena + 3, kArena + 4, kArena + 5, kArena + 6}));
    EXPECT_FALSE(seen.access.opaque);
    EXPECT_FALSE(seen.access.waits_for_host);
    EXPECT_NE(seen.access.signature, 0u);
  }
}

TEST_F(Doors, AGraphLaunchedOnTheThreadsOwnStream) {
  Graph graph{kernel(kArena)};
  EXPECT_EQ(DOOR(cuGraphLaunch_ptsz)(instantiate(graph), nullptr), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().seen.back().access.stream.handle, CU_STREAM_PER_THREAD);
}

TEST_F(Doors, AGraphThatTheDeviceLaunchesIsOpaque) {
  Graph graph{kernel(kArena)};
  EXPECT_TRUE(launched(instantiate(graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)).access.opaque);
  EXPECT_FALSE(launched(instantiate(graph)).access.opaque);
}

TEST_F(Doors, AGraphWithANodeThatCannotBeReadIsOpaque) {
  Graph unreadable{fill(kArena)};
  unreadable[0].unreadable = true;
  Graph updatable{kernel(kArena)};
  updatable[0].device_updatable = true;
  Graph conditional{{CU_GRAPH_NODE_TYPE_CONDITIONAL}};
  for (Graph* const graph : {&unreadable, &updatable, &conditional})
    EXPECT_TRUE(launched(instantiate(*graph)).access.opaque);
  EXPECT_TRUE(launched(instantiate(conditional)).access.waits_for_host);
  CUgraphExec exec = nullptr;
  EXPECT_EQ(DOOR(cuGraphInstantiateWithFlags)(&exec, nullptr, 0), CUDA_SUCCESS);
  EXPECT_TRUE(launched(exec).access.opaque);
}

TEST_F(Doors, AGraphWithANodeThatWaitsForTheHostIsSaidSo) {
  for (const CUgraphNodeType type :
       {CU_GRAPH_NODE_TYPE_HOST, CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT}) {
    Graph graph{kernel(kArena), {type}};
    const doors_test::Seen seen = launched(instantiate(graph));
    EXPECT_TRUE(seen.access.waits_for_host);
    EXPECT_FALSE(seen.access.opaque);
    EXPECT_EQ(seen.pointers, Addresses{kArena});
  }
}

TEST_F(Doors, AnExecutableGraphThatIsNotKnownIsOpaque) {
  Graph graph{kernel(kArena)};
  const CUgraphExec exec = instantiate(graph);
  EXPECT_EQ(DOOR(cuGraphExecDestroy)(exec), CUDA_SUCCESS);
  EXPECT_TRUE(launched(exec).access.opaque);
}

TEST_F(Doors, AnUpdateTakesTheOtherGraphsAddresses) {
  Graph before{fill(kArena + 1)};
  Graph after{fill(kArena + 2)};
  CUgraphExecUpdateResult answer{};
  CUgraphExecUpdateResultInfo info{};
  const CUgraphExec first = instantiate(before);
  const CUgraphExec second = instantiate(before);
  EXPECT_EQ(DOOR(cuGraphExecUpdate)(first, handle_of(after), nullptr, &answer), CUDA_SUCCESS);
  EXPECT_EQ(judged(), Addresses{kArena + 2});
  EXPECT_EQ(DOOR(cuGraphExecUpdate_v2)(second, handle_of(after), &info), CUDA_SUCCESS);
  EXPECT_EQ(judged(), Addresses{kArena + 2});
  for (const CUgraphExec exec : {first, second}) EXPECT_EQ(launched(exec).pointers, Addresses{kArena + 2});
}

TEST_F(Doors, AfterARefusedUpdateEitherGraphsAddressesMayHold) {
  Graph before{fill(kArena + 1)};
  Graph after{fill(kArena + 2)};
  const CUgraphExec exec = instantiate(before);
  stub_set_result("cuGraphExecUpdate_v2", CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(DOOR(cuGraphExecUpdate_v2)(exec, handle_of(after), &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(launched(exec).pointers, (Addresses{kArena + 1, kArena + 2}));
}

// Parameters that name one address.
struct Parameters {
  explicit Parameters(CUdeviceptr address) : pointer(address) {
    old_kernel.func = new_kernel.func = reinterpret_cast<CUfunction>(0x10);
    old_kernel.kernelParams = new_kernel.kernelParams = &argument;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = fill.dst = address;
    copy.WidthInBytes = copy.Height = copy.Depth = 1;
    any.type = CU_GRAPH_NODE_TYPE_MEMSET;
    any.memset.dst = address;
  }
  CUdeviceptr pointer;
  void* argument = &pointer;
  CUDA_KERNEL_NODE_PARAMS_v1 old_kernel{};
  CUDA_KERNEL_NODE_PARAMS new_kernel{};
  CUDA_MEMCPY3D copy{};
  CUDA_MEMSET_NODE_PARAMS fill{};
  CUgraphNodeParams any{};
};

// Every way to change a node of an executable graph.
struct Change {
  const char* symbol;
  bool judged;  // copies and fills are
  CUresult (*call)(CUgraphExec, CUgraphNode, Parameters&);
};
const Change kChanges[] = {
    {"cuGraphExecKernelNodeSetParams", false,
     [](CUgraphExec exec, CUgraphNode node, Parameters& to) {
       return DOOR(cuGraphExecKernelNodeSetParams)(exec, node, &to.old_kernel);
     }},
    {"cuGraphExecKernelNodeSetParams_v2", false,
     [](CUgraphExec exec, CUgraphNode node, Parameters& to) {
       return DOOR(cuGraphExecKernelNodeSetParams_v2)(exec, node, &to.new_kernel);
     }},
    {"cuGraphExecMemcpyNodeSetParams", true,
     [](CUgraphExec exec, CUgraphNode node, Parameters& to) {
       return DOOR(cuGraphExecMemcpyNodeSetParams)(exec, node, &to.copy, nullptr);
     }},
    {"cuGraphExecMemsetNodeSetParams", true,
     [](CUgraphExec exec, CUgraphNode node, Parameters& to) {
       return DOOR(cuGraphExecMemsetNodeSetParams)(exec, node, &to.fill, nullptr);
     }},
    {"cuGraphExecNodeSetParams", true,
     [](CUgraphExec exec, CUgraphNode node, Parameters& to) {
       return DOOR(cuGraphExecNodeSetParams)(exec, node, &to.any);
     }},
    {"cuGraphExecChildGraphNodeSetParams", true,
     [](CUgraphExec exec, CUgraphNode node, Parameters& to) {
       Graph graph{fill(to.pointer)};
       return DOOR(cuGraphExecChildGraphNodeSetParams)(exec, node, handle_of(graph));
     }},
};

TEST_F(Doors, AChangedNodeTouchesWhatItsNewParametersName) {
  for (const Change& change : kChanges) {
    Graph graph{fill(kArena + 1), fill(kArena + 9)};
    const CUgraphExec exec = instantiate(graph);
    the_runtime().seen.clear();
    Parameters to(kArena + 2);
    EXPECT_EQ(change.call(exec, handle_of(graph[0]), to), CUDA_SUCCESS) << change.symbol;
    EXPECT_EQ(judged(), change.judged ? Addresses{kArena + 2} : Addresses{}) << change.symbol;
    EXPECT_EQ(launched(exec).pointers, (Addresses{kArena + 2, kArena + 9})) << change.symbol;
  }
}

TEST_F(Doors, AChangeThatTheDriverRefusesChangesNothing) {
  for (const Change& change : kChanges) {
    Graph graph{fill(kArena + 1)};
    const CUgraphExec exec = instantiate(graph);
    stub_set_result(change.symbol, CUDA_ERROR_INVALID_VALUE);
    Parameters to(kArena + 2);
    EXPECT_EQ(change.call(exec, handle_of(graph[0]), to), CUDA_ERROR_INVALID_VALUE) << change.symbol;
    EXPECT_EQ(launched(exec).pointers, Addresses{kArena + 1}) << change.symbol;
  }
}

// Every way to give a node of a graph its copy or fill.
using Make = CUresult (*)(Parameters&);
const Make kMakes[] = {
    [](Parameters& of) {
      return DOOR(cuGraphAddMemcpyNode)(nullptr, nullptr, nullptr, 0, &of.copy, nullptr);
    },
    [](Parameters& of) { return DOOR(cuGraphMemcpyNodeSetParams)(nullptr, &of.copy); },
    [](Parameters& of) {
      return DOOR(cuGraphAddMemsetNode)(nullptr, nullptr, nullptr, 0, &of.fill, nullptr);
    },
    [](Parameters& of) { return DOOR(cuGraphMemsetNodeSetParams)(nullptr, &of.fill); },
    [](Parameters& of) { return DOOR(cuGraphAddNode)(nullptr, nullptr, nullptr, 0, &of.any); },
    [](Parameters& of) { return DOOR(cuGraphAddNode_v2)(nullptr, nullptr, nullptr, nullptr, 0, &of.any); },
    [](Parameters& of) { return DOOR(cuGraphNodeSetParams)(nullptr, &of.any); },
};

TEST_F(Doors, TheDriverJudgesACopysAddressesWhenItsNodeIsMade) {
  for (const Make& make : kMakes) {
    Parameters ours(kArena + 2);
    EXPECT_EQ(make(ours), CUDA_SUCCESS);
    EXPECT_EQ(judged(), Addresses{kArena + 2});
    Parameters foreign(kForeign);
    EXPECT_EQ(make(foreign), CUDA_SUCCESS);
    EXPECT_EQ(judged(), Addresses{});
  }
}

TEST_F(Doors, AKernelNodeIsNotJudgedWhenItIsMade) {
  Parameters of(kArena);
  of.any.type = CU_GRAPH_NODE_TYPE_KERNEL;
  std::memcpy(&of.any.kernel, &of.new_kernel, sizeof(of.new_kernel));
  EXPECT_EQ(DOOR(cuGraphAddNode)(nullptr, nullptr, nullptr, 0, &of.any), CUDA_SUCCESS);
  EXPECT_EQ(judged(), Addresses{});
}

}  // namespace
