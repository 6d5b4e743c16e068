// Graphs of the runtime API as a program that nvcc built uses them: captured, made node by node, changed.
#include <gtest/gtest.h>

#include <vector>

namespace {

constexpr int kCount = 1 << 16;
constexpr int kBlock = 256;

__global__ void fill(int* values, int value) { values[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void add(int* values, const int* others) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  values[i] += others[i];
}

#define OK(call) ASSERT_EQ(call, cudaSuccess)

class Graphs : public testing::Test {
 protected:
  void SetUp() override {
    for (int*& array : arrays_) OK(cudaMalloc(&array, sizeof(int) * kCount));
    OK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  void TearDown() override {
    OK(cudaStreamDestroy(stream_));
    for (int* array : arrays_) OK(cudaFree(array));
  }
  // Whether every value of the array is this one.
  testing::AssertionResult all(int* array, int wanted) {
    std::vector<int> values(kCount);
    if (cudaMemcpy(values.data(), array, sizeof(int) * kCount, cudaMemcpyDeviceToHost) != cudaSuccess)
      return testing::AssertionFailure() << "not copied";
    for (int i = 0; i < kCount; ++i)
      if (values[i] != wanted) return testing::AssertionFailure() << "[" << i << "] is " << values[i];
    return testing::AssertionSuccess();
  }
  cudaKernelNodeParams kernel(void* function, void** arguments) {
    cudaKernelNodeParams parameters{};
    parameters.func = function;
    parameters.gridDim = dim3(kCount / kBlock);
    parameters.blockDim = dim3(kBlock);
    parameters.kernelParams = arguments;
    return parameters;
  }
  void launch(cudaGraphExec_t exec) {
    OK(cudaGraphLaunch(exec, stream_));
    OK(cudaStreamSynchronize(stream_));
  }

  cudaStream_t stream_ = nullptr;
  int* arrays_[3] = {};
};

TEST_F(Graphs, ACaptureIsLaunchedAgainAndAgain) {
  OK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
  fill<<<kCount / kBlock, kBlock, 0, stream_>>>(arrays_[1], 3);
  add<<<kCount / kBlock, kBlock, 0, stream_>>>(arrays_[0], arrays_[1]);
  OK(cudaMemcpyAsync(arrays_[2], arrays_[0], sizeof(int) * kCount, cudaMemcpyDeviceToDevice, stream_));
  cudaGraph_t graph = nullptr;
  OK(cudaStreamEndCapture(stream_, &graph));
  cudaGraphExec_t exec = nullptr;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphDestroy(graph));
  OK(cudaMemset(arrays_[0], 0, sizeof(int) * kCount));
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 4; ++i) launch(exec);
  EXPECT_TRUE(all(arrays_[2], 12));
  OK(cudaGraphExecDestroy(exec));
}

TEST_F(Graphs, NodesAreMadeAndChanged) {
  cudaGraph_t graph = nullptr;
  OK(cudaGraphCreate(&graph, 0));
  int value = 5;
  void* fill_arguments[] = {&arrays_[0], &value};
  cudaKernelNodeParams parameters = kernel(reinterpret_cast<void*>(&fill), fill_arguments);
  cudaGraphNode_t filled = nullptr;
  OK(cudaGraphAddKernelNode(&filled, graph, nullptr, 0, &parameters));
  cudaMemsetParams zero{};
  zero.dst = arrays_[1];
  zero.elementSize = 4;
  zero.width = kCount;
  zero.height = 1;
  cudaGraphNode_t zeroed = nullptr;
  OK(cudaGraphAddMemsetNode(&zeroed, graph, nullptr, 0, &zero));
  const cudaGraphNode_t both[] = {filled, zeroed};
  void* add_arguments[] = {&arrays_[1], &arrays_[0]};
  cudaKernelNodeParams sum = kernel(reinterpret_cast<void*>(&add), add_arguments);
  cudaGraphNode_t summed = nullptr;
  OK(cudaGraphAddKernelNode(&summed, graph, both, 2, &sum));
  cudaGraphNode_t copied = nullptr;
  OK(cudaGraphAddMemcpyNode1D(&copied, graph, &summed, 1, arrays_[2], arrays_[1], sizeof(int) * kCount,
                              cudaMemcpyDeviceToDevice));
  cudaGraphExec_t exec = nullptr;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  launch(exec);
  EXPECT_TRUE(all(arrays_[2], 5));
  value = 8;
  OK(cudaGraphExecKernelNodeSetParams(exec, filled, &parameters));
  launch(exec);
  EXPECT_TRUE(all(arrays_[2], 8));
  cudaGraph_t clone = nullptr;
  OK(cudaGraphClone(&clone, graph));
  cudaGraphExecUpdateResultInfo info{};
  OK(cudaGraphExecUpdate(exec, clone, &info));
  launch(exec);
  EXPECT_TRUE(all(arrays_[2], 5)) << "as the graph still says";
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(clone));
  OK(cudaGraphDestroy(graph));
}

TEST_F(Graphs, AGraphMayAllocate) {
  cudaGraph_t graph = nullptr;
  OK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
  int* own = nullptr;
  OK(cudaMallocAsync(&own, sizeof(int) * kCount, stream_));
  fill<<<kCount / kBlock, kBlock, 0, stream_>>>(own, 4);
  OK(cudaMemsetAsync(arrays_[0], 0, sizeof(int) * kCount, stream_));
  add<<<kCount / kBlock, kBlock, 0, stream_>>>(arrays_[0], own);
  OK(cudaFreeAsync(own, stream_));
  OK(cudaStreamEndCapture(stream_, &graph));
  cudaGraphExec_t exec = nullptr;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; ++i) launch(exec);
  EXPECT_TRUE(all(arrays_[0], 4));
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
}

}  // namespace
