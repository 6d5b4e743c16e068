// Tests of graphs: made node by node, copied, changed, launched; what a capture makes of each call.
#include <array>
#include <vector>

#include "tests/softgpu/driver_test.hpp"

namespace {

class DriverGraphTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_CUDA(driver(cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING));
    ASSERT_CUDA(driver(cuGraphCreate)(&graph_, 0));
    words_ = allocate(64);
    ASSERT_CUDA(driver(cuMemsetD32)(words_, 0, 16));
    ASSERT_CUDA(driver(cuCtxSynchronize)());  // a stream that does not block would not wait for it
  }
  CUdeviceptr word(unsigned index) const { return words_ + 4 * index; }

  // `name` with an address and a value, as "store" and "add" have.
  CUDA_KERNEL_NODE_PARAMS kernel(const char* name, CUdeviceptr* address, unsigned* value) {
    arguments_ = {address, value};
    CUDA_KERNEL_NODE_PARAMS parameters{};
    parameters.func = function(name);
    parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
    parameters.blockDimX = parameters.blockDimY = parameters.blockDimZ = 1;
    parameters.kernelParams = arguments_.data();
    return parameters;
  }
  CUgraphNode add_kernel(CUgraph graph, const char* name, unsigned at, unsigned value,
                         const std::vector<CUgraphNode>& after = {}) {
    CUdeviceptr address = word(at);
    const CUDA_KERNEL_NODE_PARAMS parameters = kernel(name, &address, &value);
    CUgraphNode node = nullptr;
    EXPECT_CUDA(driver(cuGraphAddKernelNode)(&node, graph, after.data(), after.size(), &parameters));
    return node;
  }
  static CUDA_MEMCPY3D copy_of_word(CUdeviceptr to, CUdeviceptr from) {
    CUDA_MEMCPY3D copy{};
    copy.dstMemoryType = copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = to;
    copy.srcDevice = from;
    copy.WidthInBytes = 4;
    copy.Height = copy.Depth = 1;
    return copy;
  }
  static CUDA_MEMSET_NODE_PARAMS fill_of_word(CUdeviceptr at, unsigned value) {
    CUDA_MEMSET_NODE_PARAMS fill{};
    fill.dst = at;
    fill.value = value;
    fill.elementSize = 4;
    fill.width = fill.height = 1;
    return fill;
  }
  CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec exec = nullptr;
    EXPECT_CUDA(driver(cuGraphInstantiate)(&exec, graph, 0));
    return exec;
  }
  void launch_and_wait(CUgraphExec exec) {
    ASSERT_CUDA(driver(cuGraphLaunch)(exec, stream_));
    ASSERT_CUDA(driver(cuStreamSynchronize)(stream_));
  }
  void run(CUgraph graph) {
    const CUgraphExec exec = instantiate(graph);
    launch_and_wait(exec);
    EXPECT_CUDA(driver(cuGraphExecDestroy)(exec));
  }

  CUstream stream_ = nullptr;
  CUgraph graph_ = nullptr;
  CUdeviceptr words_ = 0;
  std::array<void*, 2> arguments_{};
};

TEST_F(DriverGraphTest, NodesRunInTheOrderOfTheirDependencies) {
  const CUgraphNode store = add_kernel(graph_, "store", 0, 5);
  CUgraphNode copied = nullptr;
  const CUDA_MEMCPY3D copy = copy_of_word(word(1), word(0));
  ASSERT_CUDA(driver(cuGraphAddMemcpyNode)(&copied, graph_, &store, 1, &copy, context_));
  CUgraphNode filled = nullptr;
  const CUDA_MEMSET_NODE_PARAMS fill = fill_of_word(word(0), 9);
  ASSERT_CUDA(driver(cuGraphAddMemsetNode)(&filled, graph_, &copied, 1, &fill, context_));
  CUgraphNode empty = nullptr;
  ASSERT_CUDA(driver(cuGraphAddEmptyNode)(&empty, graph_, &filled, 1));
  add_kernel(graph_, "add", 1, 2, {empty});
  run(graph_);
  EXPECT_EQ(9U, read_word(word(0)));
  EXPECT_EQ(7U, read_word(word(1)));
}

TEST_F(DriverGraphTest, EdgesAddedLaterCount) {
  const CUgraphNode second = add_kernel(graph_, "add", 0, 1);
  const CUgraphNode first = add_kernel(graph_, "store", 0, 10);
  ASSERT_CUDA(driver(cuGraphAddDependencies)(graph_, &first, &second, nullptr, 1));
  run(graph_);
  EXPECT_EQ(11U, read_word(word(0)));
  CUgraphNode found = nullptr;
  std::size_t count = 1;
  ASSERT_CUDA(driver(cuGraphNodeGetDependencies)(second, &found, nullptr, &count));
  EXPECT_EQ(first, found);
  ASSERT_CUDA(driver(cuGraphNodeGetDependentNodes)(first, &found, nullptr, &count));
  EXPECT_EQ(second, found);
  ASSERT_CUDA(driver(cuGraphAddDependencies)(graph_, &second, &first, nullptr, 1));
  CUgraphExec exec = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuGraphInstantiate)(&exec, graph_, 0)) << "a circle";
  ASSERT_CUDA(driver(cuGraphRemoveDependencies)(graph_, &second, &first, nullptr, 1));
  EXPECT_CUDA(driver(cuGraphInstantiate)(&exec, graph_, 0));
}

TEST_F(DriverGraphTest, AnExecutableGraphIsACopyThatChangesAlone) {
  const CUgraphNode node = add_kernel(graph_, "store", 0, 1);
  const CUgraphExec exec = instantiate(graph_);
  CUdeviceptr address = word(1);
  unsigned value = 2;
  const CUDA_KERNEL_NODE_PARAMS in_graph = kernel("store", &address, &value);
  ASSERT_CUDA(driver(cuGraphKernelNodeSetParams)(node, &in_graph));
  launch_and_wait(exec);
  EXPECT_EQ(1U, read_word(word(0)));
  EXPECT_EQ(0U, read_word(word(1)));
  address = word(2);
  value = 3;
  const CUDA_KERNEL_NODE_PARAMS in_exec = kernel("store", &address, &value);
  ASSERT_CUDA(driver(cuGraphExecKernelNodeSetParams)(exec, node, &in_exec));
  launch_and_wait(exec);
  EXPECT_EQ(3U, read_word(word(2)));
  run(graph_);
  EXPECT_EQ(2U, read_word(word(1)));
}

TEST_F(DriverGraphTest, ParametersAreHandedOutAsTheyAre) {
  const CUgraphNode node = add_kernel(graph_, "store", 3, 77);
  CUDA_KERNEL_NODE_PARAMS parameters{};
  ASSERT_CUDA(driver(cuGraphKernelNodeGetParams)(node, &parameters));
  EXPECT_EQ(function("store"), parameters.func);
  EXPECT_EQ(word(3), *static_cast<CUdeviceptr*>(parameters.kernelParams[0]));
  EXPECT_EQ(77U, *static_cast<unsigned*>(parameters.kernelParams[1]));
  CUgraphNode filled = nullptr;
  CUDA_MEMSET_NODE_PARAMS fill = fill_of_word(word(4), 9);
  ASSERT_CUDA(driver(cuGraphAddMemsetNode)(&filled, graph_, nullptr, 0, &fill, context_));
  CUDA_MEMSET_NODE_PARAMS back{};
  ASSERT_CUDA(driver(cuGraphMemsetNodeGetParams)(filled, &back));
  EXPECT_EQ(word(4), back.dst);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuGraphMemsetNodeGetParams)(node, &back)) << "a kernel node";
}

TEST_F(DriverGraphTest, AClonesNodesAreFoundByTheOriginals) {
  const CUgraphNode node = add_kernel(graph_, "add", 0, 1);
  CUgraph copy = nullptr;
  ASSERT_CUDA(driver(cuGraphClone)(&copy, graph_));
  CUgraphNode found = nullptr;
  ASSERT_CUDA(driver(cuGraphNodeFindInClone)(&found, node, copy));
  EXPECT_NE(node, found);
  ASSERT_CUDA(driver(cuGraphDestroyNode)(node));
  std::size_t count = 0;
  ASSERT_CUDA(driver(cuGraphGetNodes)(graph_, nullptr, &count));
  EXPECT_EQ(0U, count);
  run(copy);
  EXPECT_EQ(1U, read_word(word(0)));
  ASSERT_CUDA(driver(cuGraphDestroy)(copy));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuGraphDestroy)(copy));
  CUgraphNodeType type{};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuGraphNodeGetType)(found, &type)) << "gone with its graph";
}

TEST_F(DriverGraphTest, AChildGraphIsACopyInsideItsNode) {
  const CUgraphNode inner = add_kernel(graph_, "add", 0, 1);
  CUgraph parent = nullptr;
  ASSERT_CUDA(driver(cuGraphCreate)(&parent, 0));
  const CUgraphNode before = add_kernel(parent, "store", 0, 10);
  CUgraphNode child = nullptr;
  ASSERT_CUDA(driver(cuGraphAddChildGraphNode)(&child, parent, &before, 1, graph_));
  add_kernel(parent, "add", 0, 100, {child});
  ASSERT_CUDA(driver(cuGraphDestroyNode)(inner));
  run(parent);
  EXPECT_EQ(111U, read_word(word(0)));
  CUgraph inside = nullptr;
  ASSERT_CUDA(driver(cuGraphChildGraphNodeGetGraph)(child, &inside));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuGraphDestroy)(inside)) << "its node's";
}

TEST_F(DriverGraphTest, AnUpdateTakesOverAGraphOfTheSameShape) {
  add_kernel(graph_, "add", 0, 1);
  const CUgraphExec exec = instantiate(graph_);
  CUgraph other = nullptr;
  ASSERT_CUDA(driver(cuGraphCreate)(&other, 0));
  const CUgraphNode node = add_kernel(other, "add", 1, 5);
  CUgraphExecUpdateResultInfo info{};
  ASSERT_CUDA(driver(cuGraphExecUpdate)(exec, other, &info));
  launch_and_wait(exec);
  EXPECT_EQ(0U, read_word(word(0)));
  EXPECT_EQ(5U, read_word(word(1)));
  add_kernel(other, "add", 2, 5, {node});
  EXPECT_EQ(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, driver(cuGraphExecUpdate)(exec, other, &info));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, info.result);
  launch_and_wait(exec);
  EXPECT_EQ(10U, read_word(word(1)));
}

TEST_F(DriverGraphTest, ADisabledNodeDoesNothing) {
  const CUgraphNode node = add_kernel(graph_, "add", 0, 1);
  const CUgraphExec exec = instantiate(graph_);
  ASSERT_CUDA(driver(cuGraphNodeSetEnabled)(exec, node, 0));
  launch_and_wait(exec);
  EXPECT_EQ(0U, read_word(word(0)));
  ASSERT_CUDA(driver(cuGraphNodeSetEnabled)(exec, node, 1));
  launch_and_wait(exec);
  EXPECT_EQ(1U, read_word(word(0)));
}

TEST_F(DriverGraphTest, HostFunctionsAndEventsAreNodes) {
  CUevent event = nullptr;
  ASSERT_CUDA(driver(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING));
  int calls = 0;
  CUDA_HOST_NODE_PARAMS host{[](void* data) { ++*static_cast<int*>(data); }, &calls};
  CUgraphNode node = nullptr;
  ASSERT_CUDA(driver(cuGraphAddHostNode)(&node, graph_, nullptr, 0, &host));
  CUgraphNode recorded = nullptr;
  ASSERT_CUDA(driver(cuGraphAddEventRecordNode)(&recorded, graph_, &node, 1, event));
  CUgraphNode waited = nullptr;
  ASSERT_CUDA(driver(cuGraphAddEventWaitNode)(&waited, graph_, &recorded, 1, event));
  CUevent found = nullptr;
  ASSERT_CUDA(driver(cuGraphEventWaitNodeGetEvent)(waited, &found));
  EXPECT_EQ(event, found);
  run(graph_);
  EXPECT_EQ(1, calls);
  EXPECT_CUDA(driver(cuEventSynchronize)(event));
}

TEST_F(DriverGraphTest, NodesOfAnyKindThroughTheGeneralCall) {
  CUgraphNodeParams parameters{};
  parameters.type = CU_GRAPH_NODE_TYPE_MEMSET;
  parameters.memset = {word(0), 0, 3, 4, 1, 1, context_};
  CUgraphNode node = nullptr;
  ASSERT_CUDA(driver(cuGraphAddNode)(&node, graph_, nullptr, nullptr, 0, &parameters));
  const CUgraphExec exec = instantiate(graph_);
  parameters.memset.value = 4;
  ASSERT_CUDA(driver(cuGraphExecNodeSetParams)(exec, node, &parameters));
  launch_and_wait(exec);
  EXPECT_EQ(4U, read_word(word(0)));
  testing::internal::CaptureStderr();
  parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED,
            driver(cuGraphAddNode)(&node, graph_, nullptr, nullptr, 0, &parameters));
  EXPECT_EQ("softgpu: a node of this kind in a graph is not supported\n",
            testing::internal::GetCapturedStderr());
}

TEST_F(DriverGraphTest, AGraphsOwnMemoryLivesFromNodeToNode) {
  const std::size_t before = free_bytes();
  CUDA_MEM_ALLOC_NODE_PARAMS memory{};
  memory.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  memory.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  memory.bytesize = 1 << 16;
  CUgraphNode made = nullptr;
  ASSERT_CUDA(driver(cuGraphAddMemAllocNode)(&made, graph_, nullptr, 0, &memory));
  CUgraphNode filled = nullptr;
  const CUDA_MEMSET_NODE_PARAMS fill = fill_of_word(memory.dptr, 6);
  ASSERT_CUDA(driver(cuGraphAddMemsetNode)(&filled, graph_, &made, 1, &fill, context_));
  const CUgraphExec exec = instantiate(graph_);
  launch_and_wait(exec);
  EXPECT_EQ(6U, read_word(memory.dptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuGraphLaunch)(exec, stream_)) << "not freed";
  cuuint64_t used = 0;
  ASSERT_CUDA(driver(cuDeviceGetGraphMemAttribute)(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
  EXPECT_EQ(memory.bytesize, used);
  ASSERT_CUDA(driver(cuMemFreeAsync)(memory.dptr, stream_));
  launch_and_wait(exec);
  ASSERT_CUDA(driver(cuMemFree)(memory.dptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemFree)(memory.dptr));
  ASSERT_CUDA(driver(cuGraphExecDestroy)(exec));
  ASSERT_CUDA(driver(cuGraphDestroy)(graph_));
  EXPECT_EQ(before, free_bytes());
}

TEST_F(DriverGraphTest, CapturedCallsBecomeNodesThatSayWhatTheyAre) {
  ASSERT_CUDA(driver(cuStreamBeginCapture)(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
  ASSERT_CUDA(launch(stream_, "store", word(0), 8U));
  ASSERT_CUDA(driver(cuMemcpyDtoDAsync)(word(1), word(0), 4, stream_));
  ASSERT_CUDA(driver(cuMemsetD32Async)(word(0), 1, 1, stream_));
  CUdeviceptr memory = 0;
  ASSERT_CUDA(driver(cuMemAllocAsync)(&memory, 4096, stream_));
  ASSERT_CUDA(driver(cuMemFreeAsync)(memory, stream_));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemFreeAsync)(word(0), stream_)) << "not the graph's";
  CUstreamCaptureStatus status{};
  CUgraph capturing = nullptr;
  const CUgraphNode* tail = nullptr;
  std::size_t tail_count = 0;
  ASSERT_CUDA(
      driver(cuStreamGetCaptureInfo)(stream_, &status, nullptr, &capturing, &tail, nullptr, &tail_count));
  ASSERT_EQ(1U, tail_count);
  CUgraphNodeType type{};
  ASSERT_CUDA(driver(cuGraphNodeGetType)(*tail, &type));
  EXPECT_EQ(CU_GRAPH_NODE_TYPE_MEM_FREE, type);
  CUgraph graph = nullptr;
  ASSERT_CUDA(driver(cuStreamEndCapture)(stream_, &graph));
  EXPECT_EQ(capturing, graph);
  std::array<CUgraphNode, 5> nodes{};
  std::size_t count = nodes.size();
  ASSERT_CUDA(driver(cuGraphGetNodes)(graph, nodes.data(), &count));
  ASSERT_EQ(5U, count);
  CUDA_MEMCPY3D copy{};
  ASSERT_CUDA(driver(cuGraphMemcpyNodeGetParams)(nodes[1], &copy));
  EXPECT_EQ(word(1), copy.dstDevice);
  EXPECT_EQ(word(0), copy.srcDevice);
  EXPECT_EQ(CU_MEMORYTYPE_DEVICE, copy.srcMemoryType);
  run(graph);
  EXPECT_EQ(1U, read_word(word(0)));
  EXPECT_EQ(8U, read_word(word(1)));
}

TEST_F(DriverGraphTest, AGraphLaunchedIntoACaptureIsAChild) {
  add_kernel(graph_, "add", 0, 1);
  const CUgraphExec exec = instantiate(graph_);
  ASSERT_CUDA(driver(cuStreamBeginCapture)(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  ASSERT_CUDA(driver(cuGraphLaunch)(exec, stream_));
  CUgraph graph = nullptr;
  ASSERT_CUDA(driver(cuStreamEndCapture)(stream_, &graph));
  EXPECT_EQ(0U, read_word(word(0)));
  CUgraphNode node = nullptr;
  std::size_t count = 1;
  ASSERT_CUDA(driver(cuGraphGetRootNodes)(graph, &node, &count));
  CUgraphNodeType type{};
  ASSERT_CUDA(driver(cuGraphNodeGetType)(node, &type));
  EXPECT_EQ(CU_GRAPH_NODE_TYPE_GRAPH, type);
  run(graph);
  EXPECT_EQ(1U, read_word(word(0)));
}

TEST_F(DriverGraphTest, ACaptureGoesOnInAGraphThatIsThere) {
  const CUgraphNode store = add_kernel(graph_, "store", 0, 5);
  ASSERT_CUDA(driver(cuStreamBeginCaptureToGraph)(stream_, graph_, &store, nullptr, 1,
                                                  CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  ASSERT_CUDA(launch(stream_, "add", word(0), 1U));
  CUgraph same = nullptr;
  ASSERT_CUDA(driver(cuStreamEndCapture)(stream_, &same));
  EXPECT_EQ(graph_, same);
  run(graph_);
  EXPECT_EQ(6U, read_word(word(0)));
}

TEST_F(DriverGraphTest, BothStreamFlavoursLaunchOnTheirOwnStream) {
  add_kernel(graph_, "spin", 0, 0);
  const CUgraphExec exec = instantiate(graph_);
  const auto launch_ptsz =
      reinterpret_cast<decltype(&cuGraphLaunch)>(softgpu::entry_point("cuGraphLaunch_ptsz"));
  ASSERT_CUDA(launch_ptsz(exec, nullptr));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, driver(cuStreamQuery)(CU_STREAM_PER_THREAD));
  EXPECT_CUDA(driver(cuStreamQuery)(nullptr));
  ASSERT_CUDA(launch(stream_, "store", word(0), 1U));
  ASSERT_CUDA(driver(cuStreamSynchronize)(CU_STREAM_PER_THREAD));
  ASSERT_CUDA(driver(cuGraphLaunch)(exec, nullptr));
  ASSERT_CUDA(driver(cuStreamSynchronize)(nullptr));
}

TEST_F(DriverGraphTest, AskingForTheLegacyStreamsCaptureDisturbsNone) {
  CUstream blocking = nullptr;
  ASSERT_CUDA(driver(cuStreamCreate)(&blocking, CU_STREAM_DEFAULT));
  ASSERT_CUDA(driver(cuStreamBeginCapture)(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
  CUstreamCaptureStatus status{};
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, driver(cuStreamIsCapturing)(nullptr, &status));
  CUgraph graph = nullptr;
  EXPECT_CUDA(driver(cuStreamEndCapture)(blocking, &graph));
}

}  // namespace
