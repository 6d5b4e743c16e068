// NVIDIA's own runtime under LD_PRELOAD on a machine without a driver says what it says without us.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace {

TEST(NoDriver, TheRuntimeSaysThatTheDriverIsInsufficient) {
  int value = -1;
  EXPECT_EQ(cudaGetDeviceCount(&value), cudaErrorInsufficientDriver);
  EXPECT_EQ(cudaDriverGetVersion(&value), cudaSuccess);
  EXPECT_EQ(value, 0);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 16), cudaErrorInsufficientDriver);
}

}  // namespace
