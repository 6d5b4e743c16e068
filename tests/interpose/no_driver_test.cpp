// Under LD_PRELOAD on a machine without a driver: the calls answer as without a device.
#include <gtest/gtest.h>

#include <string>

#include "tests/interpose/under_preload.hpp"

namespace {

TEST(NoDriver, InitFindsNoDevice) {
  void* const handle = under_preload::driver();
  ASSERT_NE(handle, nullptr);
  EXPECT_EQ(under_preload::look_up<decltype(&cuInit)>(handle, "cuInit")(0), CUDA_ERROR_NO_DEVICE);
}

TEST(NoDriver, OtherCallsAreNotInitialized) {
  void* const handle = under_preload::driver();
  int count = -1;
  CUdeviceptr address = 0;
  EXPECT_EQ(under_preload::look_up<decltype(&cuDeviceGetCount)>(handle, "cuDeviceGetCount")(&count),
            CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(under_preload::look_up<decltype(&cuMemAlloc_v2)>(handle, "cuMemAlloc_v2")(&address, 1),
            CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(count, -1);
}

TEST(NoDriver, ErrorsCanBeNamed) {
  const char* name = nullptr;
  auto* const get =
      under_preload::look_up<decltype(&cuGetErrorName)>(under_preload::driver(), "cuGetErrorName");
  EXPECT_EQ(get(CUDA_ERROR_NO_DEVICE, &name), CUDA_SUCCESS);
  EXPECT_EQ(std::string(name), "CUDA_ERROR_NO_DEVICE");
}

TEST(NoDriver, OtherLookUpsAreAsEver) {
  EXPECT_EQ(dlsym(under_preload::driver(), "cuNoSuchFunction"), nullptr);
  EXPECT_NE(dlsym(RTLD_DEFAULT, "malloc"), nullptr);
}

}  // namespace
