// Tests of the driver API's everyday part: memory, copies, launches, streams, events.
#include <thread>
#include <vector>

#include "tests/softgpu/driver_test.hpp"

namespace {

using DriverBasicTest = DriverTest;

TEST_F(DriverBasicTest, CopiesThereAndBack) {
  std::vector<std::uint32_t> out(100'000);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint32_t>(i * 2654435761U);
  const CUdeviceptr a = allocate(out.size() * 4);
  const CUdeviceptr b = allocate(out.size() * 4);
  std::vector<std::uint32_t> in(out.size());
  ASSERT_CUDA(driver(cuMemcpyHtoD)(a, out.data(), out.size() * 4));
  ASSERT_CUDA(driver(cuMemcpyDtoD)(b, a, out.size() * 4));
  ASSERT_CUDA(driver(cuMemcpyDtoH)(in.data(), b, in.size() * 4));
  EXPECT_EQ(out, in);
}

TEST_F(DriverBasicTest, MemoryInfoIsExactAndFreshMemoryIsPoisoned) {
  const std::size_t before = free_bytes();
  const CUdeviceptr a = allocate(1);
  EXPECT_EQ(before - 65536, free_bytes());
  std::uint8_t byte = 0;
  ASSERT_CUDA(driver(cuMemcpyDtoH)(&byte, a, 1));
  EXPECT_EQ(0xff, byte);
  ASSERT_CUDA(driver(cuMemFree)(a));
  EXPECT_EQ(before, free_bytes());
}

TEST_F(DriverBasicTest, RefusesBadAddresses) {
  const CUdeviceptr a = allocate(1000);
  std::vector<char> host(70'000);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemFree)(a + 4));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemcpyHtoD)(a, host.data(), 1001));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemsetD8)(a + 999, 0, 2));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemAlloc)(nullptr, 1));
  CUdeviceptr other = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemAlloc)(&other, 0));
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, driver(cuMemAlloc)(&other, std::size_t{1} << 50));
  ASSERT_CUDA(driver(cuMemFree)(a));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemFree)(a));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemcpyDtoH)(host.data(), a, 1));
  EXPECT_CUDA(driver(cuMemFree)(0));
}

TEST_F(DriverBasicTest, MemsetsAndPitchedCopies) {
  CUdeviceptr a = 0;
  std::size_t pitch = 0;
  ASSERT_CUDA(driver(cuMemAllocPitch)(&a, &pitch, 100, 3, 4));
  EXPECT_EQ(512U, pitch);
  ASSERT_CUDA(driver(cuMemsetD2D32)(a, pitch, 0x01020304, 25, 3));
  std::vector<std::uint32_t> rows(75);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = a;
  copy.srcPitch = pitch;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = rows.data();
  copy.dstPitch = 100;
  copy.WidthInBytes = 100;
  copy.Height = 3;
  ASSERT_CUDA(driver(cuMemcpy2D)(&copy));
  EXPECT_EQ(std::vector<std::uint32_t>(75, 0x01020304), rows);
  ASSERT_CUDA(driver(cuMemsetD16)(a, 0xabcd, 2));
  EXPECT_EQ(0xabcdabcdU, read_word(a));
}

TEST_F(DriverBasicTest, KernelsRunInStreamOrder) {
  CUstream stream = nullptr;
  ASSERT_CUDA(driver(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
  const CUdeviceptr a = allocate(8);
  ASSERT_CUDA(launch(stream, "store", a, 5U));
  for (int i = 0; i < 2000; ++i) ASSERT_CUDA(launch(stream, "add", a, 1U));
  ASSERT_CUDA(launch(stream, "copy", a + 4, a));
  ASSERT_CUDA(driver(cuStreamSynchronize)(stream));
  EXPECT_EQ(2005U, read_word(a + 4));
  EXPECT_CUDA(driver(cuStreamQuery)(stream));
  EXPECT_CUDA(driver(cuStreamDestroy)(stream));
}

TEST_F(DriverBasicTest, ASpinningKernelStopsNobodyElse) {
  CUstream waiting = nullptr;
  CUstream other = nullptr;
  ASSERT_CUDA(driver(cuStreamCreate)(&waiting, CU_STREAM_NON_BLOCKING));
  ASSERT_CUDA(driver(cuStreamCreate)(&other, CU_STREAM_NON_BLOCKING));
  const CUdeviceptr flag = allocate(4);
  ASSERT_CUDA(driver(cuMemsetD32)(flag, 0, 1));
  ASSERT_CUDA(driver(cuCtxSynchronize)());
  ASSERT_CUDA(launch(waiting, "spin", flag));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, driver(cuStreamQuery)(waiting));
  ASSERT_CUDA(launch(other, "store", flag, 1U));
  EXPECT_CUDA(driver(cuCtxSynchronize)());
}

TEST_F(DriverBasicTest, EventsOrderStreams) {
  CUstream first = nullptr;
  CUstream second = nullptr;
  CUevent event = nullptr;
  ASSERT_CUDA(driver(cuStreamCreate)(&first, CU_STREAM_NON_BLOCKING));
  ASSERT_CUDA(driver(cuStreamCreate)(&second, CU_STREAM_NON_BLOCKING));
  ASSERT_CUDA(driver(cuEventCreate)(&event, 0));
  const CUdeviceptr flag = allocate(12);
  ASSERT_CUDA(driver(cuMemsetD32)(flag, 0, 3));
  ASSERT_CUDA(driver(cuCtxSynchronize)());
  ASSERT_CUDA(launch(first, "spin", flag));
  ASSERT_CUDA(launch(first, "store", flag + 4, 7U));
  ASSERT_CUDA(driver(cuEventRecord)(event, first));
  ASSERT_CUDA(driver(cuStreamWaitEvent)(second, event, 0));
  ASSERT_CUDA(launch(second, "copy", flag + 8, flag + 4));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, driver(cuEventQuery)(event));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, driver(cuStreamQuery)(second));
  CUstream third = nullptr;
  ASSERT_CUDA(driver(cuStreamCreate)(&third, CU_STREAM_NON_BLOCKING));
  ASSERT_CUDA(launch(third, "store", flag, 1U));
  ASSERT_CUDA(driver(cuEventSynchronize)(event));
  ASSERT_CUDA(driver(cuStreamSynchronize)(second));
  EXPECT_EQ(7U, read_word(flag + 8));
}

TEST_F(DriverBasicTest, HostFunctionsRunInOrder) {
  std::vector<int> order;
  struct Call {
    std::vector<int>* order;
    int number;
  } calls[] = {{&order, 1}, {&order, 2}, {&order, 3}};
  for (Call& call : calls)
    ASSERT_CUDA(driver(cuLaunchHostFunc)(
        nullptr,
        [](void* data) {
          auto* call_of = static_cast<Call*>(data);
          call_of->order->push_back(call_of->number);
        },
        &call));
  ASSERT_CUDA(driver(cuCtxSynchronize)());
  EXPECT_EQ((std::vector<int>{1, 2, 3}), order);
}

TEST_F(DriverBasicTest, AFaultKillsTheContext) {
  ASSERT_CUDA(launch(nullptr, "store", CUdeviceptr{0x1000}, 1U));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, driver(cuCtxSynchronize)());
  CUdeviceptr address = 0;
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, driver(cuMemAlloc)(&address, 4));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, launch(nullptr, "say"));
}

TEST_F(DriverBasicTest, AssertAndTrapHaveTheirOwnErrors) {
  ASSERT_CUDA(launch(nullptr, "check"));
  EXPECT_EQ(CUDA_ERROR_ASSERT, driver(cuCtxSynchronize)());
  TearDown();
  module_ = nullptr;
  SetUp();
  ASSERT_CUDA(launch(nullptr, "fail"));
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, driver(cuCtxSynchronize)());
}

TEST_F(DriverBasicTest, ModuleGlobalsHaveTheirInitialValues) {
  function("store");
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  ASSERT_CUDA(driver(cuModuleGetGlobal)(&address, &bytes, module_, "greeting"));
  EXPECT_EQ(8U, bytes);
  char text[8] = "";
  ASSERT_CUDA(driver(cuMemcpyDtoH)(text, address, 8));
  EXPECT_STREQ("hello", text);
}

TEST_F(DriverBasicTest, TheNewestFormNotTooNewIsFound) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult status{};
  const auto ask = [&](const char* name, int version, cuuint64_t flags) {
    return driver(cuGetProcAddress)(name, &found, version, flags, &status);
  };
  ASSERT_CUDA(ask("cuMemcpyHtoD", 13000, 0));
  EXPECT_EQ(softgpu::entry_point("cuMemcpyHtoD_v2"), found);
  ASSERT_CUDA(ask("cuMemcpyHtoD", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM));
  EXPECT_EQ(softgpu::entry_point("cuMemcpyHtoD_v2_ptds"), found);
  ASSERT_CUDA(ask("cuMemcpyHtoD", 2000, 0));
  EXPECT_EQ(softgpu::entry_point("cuMemcpyHtoD"), found);
  ASSERT_CUDA(ask("cuMemCreate", 9000, 0));
  EXPECT_EQ(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, status);
  ASSERT_CUDA(ask("cuNoSuchThing", 13000, 0));
  EXPECT_EQ(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, status);
  EXPECT_EQ(nullptr, found);
  ASSERT_CUDA(ask("cuGetProcAddress", 12000, 0));
  EXPECT_EQ(softgpu::entry_point("cuGetProcAddress_v2"), found);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, ask("cuMemAlloc", 13010, 0));
}

TEST_F(DriverBasicTest, WhatIsNotThereIsRefusedByName) {
  CUarray array = nullptr;
  CUDA_ARRAY_DESCRIPTOR description{};
  testing::internal::CaptureStderr();
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, driver(cuArrayCreate)(&array, &description));
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, driver(cuArrayCreate)(&array, &description));
  EXPECT_EQ("softgpu: cuArrayCreate_v2 is not supported\n", testing::internal::GetCapturedStderr());
}

}  // namespace
