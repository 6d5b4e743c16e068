// What the driver tests share: the entry points of the softgpu inside the test, and a context.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tools/softgpu/driver/entry_point.hpp"

// driver(cuMemAlloc) is the entry point that the header's name means, called as such.
#define SOFTGPU_NAME_(name) #name
#define SOFTGPU_NAME(name) SOFTGPU_NAME_(name)
#define driver(name) reinterpret_cast<decltype(&name)>(::softgpu::entry_point(SOFTGPU_NAME(name)))

#define ASSERT_CUDA(call) ASSERT_EQ(CUDA_SUCCESS, (call))
#define EXPECT_CUDA(call) EXPECT_EQ(CUDA_SUCCESS, (call))

class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_CUDA(driver(cuInit)(0));
    ASSERT_CUDA(driver(cuDevicePrimaryCtxRetain)(&context_, 0));
    ASSERT_CUDA(driver(cuCtxSetCurrent)(context_));
  }
  void TearDown() override {
    driver(cuDevicePrimaryCtxReset)(0);
    driver(cuCtxSetCurrent)(nullptr);
  }

  CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_CUDA(driver(cuMemAlloc)(&address, bytes));
    return address;
  }
  std::uint32_t read_word(CUdeviceptr address) {
    std::uint32_t value = 0;
    EXPECT_CUDA(driver(cuMemcpyDtoH)(&value, address, sizeof(value)));
    return value;
  }
  std::size_t free_bytes() {
    std::size_t bytes = 0;
    EXPECT_CUDA(driver(cuMemGetInfo)(&bytes, nullptr));
    return bytes;
  }
  CUfunction function(const std::string& name) {
    static constexpr char kImage[] =
        "//\nkernel store 8 4\nkernel add 8 4\nkernel copy 8 8\nkernel spin 8\nkernel work 8\nkernel say\n"
        "kernel fail\nkernel check\nkernel read_all 8 8\nglobal greeting 8 hello\n";
    if (module_ == nullptr) {
      EXPECT_CUDA(driver(cuModuleLoadData)(&module_, kImage));
    }
    CUfunction found = nullptr;
    EXPECT_CUDA(driver(cuModuleGetFunction)(&found, module_, name.c_str()));
    return found;
  }
  template <class... Arguments>
  CUresult launch(CUstream stream, const std::string& name, Arguments... arguments) {
    void* parameters[] = {static_cast<void*>(&arguments)..., nullptr};
    return driver(cuLaunchKernel)(function(name), 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr);
  }

  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
};
