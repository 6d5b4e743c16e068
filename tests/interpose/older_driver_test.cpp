// Under LD_PRELOAD on a driver of CUDA 11.2: what it lacks is lacking, said as that driver says it.
#include <gtest/gtest.h>

#include "tests/interpose/under_preload.hpp"

namespace {

using under_preload::driver;
using under_preload::is_ours;
using under_preload::look_up;

TEST(OlderDriver, AFormThatItHasIsOurs) {
  EXPECT_TRUE(is_ours(dlsym(driver(), "cuMemAlloc_v2")));
  EXPECT_TRUE(is_ours(dlsym(driver(), "cuMemAllocAsync")));
}

TEST(OlderDriver, ANameThatCameLaterIsNotFound) {
  for (const char* const symbol : {"cuGetProcAddress", "cuGetProcAddress_v2", "cuCtxCreate_v4",
                                   "cuLaunchKernelEx", "cuGraphAddNode_v2", "cuFuncGetParamInfo"}) {
    EXPECT_EQ(dlsym(driver(), symbol), nullptr) << symbol;
    EXPECT_NE(dlerror(), nullptr) << symbol;
  }
}

// A program linked with a newer driver's names calls ours; there is nothing behind it.
TEST(OlderDriver, ACallOfSuchANameIsAnswered) {
  void* const ours = dlvsym(driver(), "cuLaunchKernelEx", "TENCACHE");
  ASSERT_NE(ours, nullptr);
  auto* const launch = reinterpret_cast<decltype(&cuLaunchKernelEx)>(ours);
  EXPECT_EQ(launch(nullptr, nullptr, nullptr, nullptr), CUDA_ERROR_NOT_FOUND);
}

TEST(OlderDriver, ItsVersionIsItsOwn) {
  int version = 0;
  EXPECT_EQ(look_up<decltype(&cuDriverGetVersion)>(driver(), "cuDriverGetVersion")(&version), CUDA_SUCCESS);
  EXPECT_EQ(version, 11020);
}

// It has no cuFuncGetParamInfo, without which no launch can be read: everything is left to it.
TEST(OlderDriver, AllocationsAreItsOwn) {
  EXPECT_EQ(look_up<decltype(&cuInit)>(driver(), "cuInit")(0), CUDA_SUCCESS);
  const auto calls = under_preload::of_stub<decltype(&stub_calls)>("stub_calls");
  const unsigned before = calls("cuMemAlloc_v2");
  CUdeviceptr address = 0;
  EXPECT_EQ(look_up<decltype(&cuMemAlloc_v2)>(driver(), "cuMemAlloc_v2")(&address, 4096), CUDA_SUCCESS);
  EXPECT_EQ(calls("cuMemAlloc_v2"), before + 1);
}

}  // namespace
