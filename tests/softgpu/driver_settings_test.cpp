// Tests of what SOFTGPU_* variables change: modelled times, costs of calls, failures on purpose, the end of
// the process. Each runs in a process of its own, as the variables are read once.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "tests/softgpu/driver_test.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using Variables = std::vector<std::pair<const char*, const char*>>;

// Expects the body to leave the process with 0, under these variables.
template <class Body>
void in_process(const Variables& variables, Body body) {
  ASSERT_EXIT(
      {
        for (const auto& [name, value] : variables) setenv(name, value, 1);
        body();
        std::exit(testing::Test::HasFailure() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

class DriverSettingsTest : public DriverTest {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "fast"); }
  void TearDown() override {}
  void start() { DriverTest::SetUp(); }

  float milliseconds_of(const std::function<void()>& work) {
    CUevent first = nullptr;
    CUevent last = nullptr;
    float milliseconds = 0;
    EXPECT_CUDA(driver(cuEventCreate)(&first, 0));
    EXPECT_CUDA(driver(cuEventCreate)(&last, 0));
    EXPECT_CUDA(driver(cuEventRecord)(first, nullptr));
    work();
    EXPECT_CUDA(driver(cuEventRecord)(last, nullptr));
    EXPECT_CUDA(driver(cuEventSynchronize)(last));
    EXPECT_CUDA(driver(cuEventElapsedTime)(&milliseconds, first, last));
    return milliseconds;
  }
};

TEST_F(DriverSettingsTest, KernelsAndCopiesTakeTheirModelledTime) {
  in_process({{"SOFTGPU_LANE_RATE", "1G/s"}, {"SOFTGPU_H2D", "100MB/s"}, {"SOFTGPU_D2H", "50MB/s"}}, [this] {
    start();
    void* pinned = nullptr;
    ASSERT_CUDA(driver(cuMemHostAlloc)(&pinned, 1'000'000, 0));
    const CUdeviceptr a = allocate(1'000'000);
    const auto begin = Clock::now();
    EXPECT_GE(milliseconds_of([&] { EXPECT_CUDA(launch(nullptr, "work", std::uint64_t{20'000'000})); }), 20);
    EXPECT_GE(milliseconds_of([&] { EXPECT_CUDA(driver(cuMemcpyHtoDAsync)(a, pinned, 1'000'000, nullptr)); }),
              10);
    EXPECT_GE(milliseconds_of([&] { EXPECT_CUDA(driver(cuMemcpyDtoHAsync)(pinned, a, 1'000'000, nullptr)); }),
              20);
    EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(50));
  });
}

TEST_F(DriverSettingsTest, CallsCostWhatTheyCost) {
  in_process({{"SOFTGPU_CALL_COSTS", "real"}}, [this] {
    start();
    function("say");
    const auto begin = Clock::now();
    for (int i = 0; i < 100; ++i) EXPECT_CUDA(launch(nullptr, "work", std::uint64_t{0}));
    EXPECT_GE(Clock::now() - begin, std::chrono::microseconds(200));
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemGenericAllocationHandle handle = 0;
    const auto before_create = Clock::now();
    EXPECT_CUDA(driver(cuMemCreate)(&handle, std::size_t{2} << 20, &prop, 0));
    EXPECT_GE(Clock::now() - before_create, std::chrono::microseconds(193));
  });
}

TEST_F(DriverSettingsTest, CallsFailOnPurpose) {
  in_process({{"SOFTGPU_FAIL", "cuMemAlloc:2,cuLaunchKernel:1:701"}}, [this] {
    start();
    CUdeviceptr a = 0;
    EXPECT_CUDA(driver(cuMemAlloc)(&a, 4));
    EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, driver(cuMemAlloc)(&a, 4));
    EXPECT_CUDA(driver(cuMemAlloc)(&a, 4));
    EXPECT_EQ(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, launch(nullptr, "say"));
    EXPECT_CUDA(launch(nullptr, "store", a, 1U));
  });
}

TEST_F(DriverSettingsTest, SmallDevicesAndGranularitiesAndRefusedHostMemory) {
  in_process({{"SOFTGPU_HBM", "8MiB"},
              {"SOFTGPU_CONTEXT", "1MiB"},
              {"SOFTGPU_GRANULARITY", "64KiB"},
              {"SOFTGPU_HOST_VMM", "host_numa"}},
             [this] {
               start();
               EXPECT_EQ(std::size_t{7} << 20, free_bytes());
               int host = 1;
               EXPECT_CUDA(driver(cuDeviceGetAttribute)(
                   &host, CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
               EXPECT_EQ(0, host);
               CUmemAllocationProp prop{};
               prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
               prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
               CUmemGenericAllocationHandle handle = 0;
               EXPECT_CUDA(driver(cuMemCreate)(&handle, 65536, &prop, 0));
               EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY,
                         driver(cuMemCreate)(&handle, std::size_t{7} << 20, &prop, 0));
               prop.location.type = CU_MEM_LOCATION_TYPE_HOST;
               EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, driver(cuMemCreate)(&handle, 65536, &prop, 0));
               prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
               EXPECT_CUDA(driver(cuMemCreate)(&handle, 65536, &prop, 0));
             });
}

TEST_F(DriverSettingsTest, AProcessEndsUnderASpinningKernel) {
  in_process({}, [this] {
    start();
    const CUdeviceptr flag = allocate(4);
    EXPECT_CUDA(driver(cuMemsetD32)(flag, 0, 1));
    EXPECT_CUDA(launch(nullptr, "spin", flag));
  });
}

TEST_F(DriverSettingsTest, AForkedChildIsRefused) {
  in_process({}, [this] {
    start();
    const pid_t child = fork();
    if (child == 0) _exit(driver(cuInit)(0) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(0, status);
  });
}

// Independent streams in any order, dependent work in its own: the sums come out whatever the adversary does.
TEST_F(DriverSettingsTest, TheAdversaryKeepsTheOrder) {
  for (const char* seed : {"1", "2", "3"}) {
    in_process({{"SOFTGPU_CHAOS", seed}, {"SOFTGPU_CHAOS_DELAY", "500us"}, {"SOFTGPU_HARDWARE_QUEUES", "2"}},
               [this] {
                 start();
                 const CUdeviceptr words = allocate(64);
                 ASSERT_CUDA(driver(cuMemsetD32)(words, 0, 16));
                 std::vector<CUstream> streams(3);
                 CUevent event = nullptr;
                 ASSERT_CUDA(driver(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING));
                 for (CUstream& stream : streams)
                   ASSERT_CUDA(driver(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
                 ASSERT_CUDA(driver(cuCtxSynchronize)());
                 for (std::uint32_t i = 0; i < 30; ++i) {
                   const CUstream stream = streams[i % 3];
                   // An event that was never recorded is nothing to wait for.
                   ASSERT_CUDA(driver(cuStreamWaitEvent)(stream, event, 0));
                   ASSERT_CUDA(launch(stream, "copy", words + 4 * ((i + 1) % 16), words + 4 * (i % 16)));
                   ASSERT_CUDA(launch(stream, "add", words + 4 * ((i + 1) % 16), 1U));
                   ASSERT_CUDA(driver(cuEventRecord)(event, stream));
                 }
                 ASSERT_CUDA(driver(cuCtxSynchronize)());
                 EXPECT_EQ(30U, read_word(words + 4 * (30 % 16)));
               });
  }
}

// What a wait for a value lets go may be held back as anything else: its time is kept as well.
TEST_F(DriverSettingsTest, TheAdversaryLetsGoWhatWaitedForAValue) {
  in_process({{"SOFTGPU_CHAOS", "1"}, {"SOFTGPU_CHAOS_DELAY", "20ms"}}, [this] {
    start();
    const CUdeviceptr words = allocate(64);
    CUstream stream = nullptr;
    void* host = nullptr;
    CUdeviceptr value = 0;
    ASSERT_CUDA(driver(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
    ASSERT_CUDA(driver(cuMemHostAlloc)(&host, sizeof(std::uint32_t), 0));
    ASSERT_CUDA(driver(cuMemHostGetDevicePointer)(&value, host, 0));
    std::atomic_ref<std::uint32_t> word(*static_cast<std::uint32_t*>(host));
    word = 0;
    ASSERT_CUDA(driver(cuMemsetD32)(words, 0, 16));
    for (std::uint32_t i = 1; i <= 20; ++i) {
      ASSERT_CUDA(driver(cuStreamWaitValue32)(stream, value, i, CU_STREAM_WAIT_VALUE_EQ));
      ASSERT_CUDA(launch(stream, "add", words, 1U));
      word = i;
      ASSERT_CUDA(driver(cuStreamSynchronize)(stream));
    }
    EXPECT_EQ(20U, read_word(words));
  });
}

}  // namespace
