// Tests of order: the legacy stream, full queues, waits for values, stream-ordered memory, capture.
#include <atomic>
#include <thread>
#include <vector>

#include "tests/softgpu/driver_test.hpp"

namespace {

class DriverOrderTest : public DriverTest {
 protected:
  CUstream stream(unsigned flags) {
    CUstream made = nullptr;
    EXPECT_CUDA(driver(cuStreamCreate)(&made, flags));
    return made;
  }
  CUdeviceptr zeroed(std::size_t words) {
    const CUdeviceptr address = allocate(words * 4);
    EXPECT_CUDA(driver(cuMemsetD32)(address, 0, words));
    EXPECT_CUDA(driver(cuCtxSynchronize)());
    return address;
  }
};

TEST_F(DriverOrderTest, TheLegacyStreamWaitsForBlockingStreamsAndTheyForIt) {
  const CUstream blocking = stream(CU_STREAM_DEFAULT);
  const CUstream free_running = stream(CU_STREAM_NON_BLOCKING);
  const CUdeviceptr words = zeroed(4);
  ASSERT_CUDA(launch(blocking, "spin", words));
  ASSERT_CUDA(launch(blocking, "store", words + 4, 1U));
  ASSERT_CUDA(launch(nullptr, "copy", words + 8, words + 4));
  ASSERT_CUDA(launch(blocking, "copy", words + 12, words + 8));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, driver(cuStreamQuery)(nullptr));
  ASSERT_CUDA(launch(free_running, "store", words, 1U));
  ASSERT_CUDA(driver(cuStreamSynchronize)(blocking));
  EXPECT_EQ(1U, read_word(words + 12));
}

TEST_F(DriverOrderTest, ThePerThreadFormsUseTheThreadsOwnStream) {
  const auto launch_ptsz =
      reinterpret_cast<decltype(&cuLaunchKernel)>(softgpu::entry_point("cuLaunchKernel_ptsz"));
  const auto query_ptsz =
      reinterpret_cast<decltype(&cuStreamQuery)>(softgpu::entry_point("cuStreamQuery_ptsz"));
  CUdeviceptr words = zeroed(1);
  void* parameters[] = {&words};
  ASSERT_CUDA(launch_ptsz(function("spin"), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, query_ptsz(nullptr));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, driver(cuStreamQuery)(CU_STREAM_PER_THREAD));
  EXPECT_CUDA(driver(cuStreamQuery)(nullptr));
  ASSERT_CUDA(launch(stream(CU_STREAM_NON_BLOCKING), "store", words, 1U));
  ASSERT_CUDA(driver(cuStreamSynchronize)(CU_STREAM_PER_THREAD));
}

TEST_F(DriverOrderTest, AFullStreamBlocksItsCallerAlone) {
  const CUstream full = stream(CU_STREAM_NON_BLOCKING);
  const CUstream other = stream(CU_STREAM_NON_BLOCKING);
  const CUdeviceptr words = zeroed(2);
  ASSERT_CUDA(launch(full, "spin", words));
  std::atomic<int> enqueued{0};
  std::thread caller([&] {
    driver(cuCtxSetCurrent)(context_);
    for (int i = 0; i < 1024; ++i, ++enqueued) launch(full, "add", words + 4, 1U);
  });
  while (enqueued.load() < 1023) std::this_thread::yield();
  EXPECT_EQ(1023, enqueued.load());
  ASSERT_CUDA(launch(other, "store", words, 1U));
  caller.join();
  ASSERT_CUDA(driver(cuCtxSynchronize)());
  EXPECT_EQ(1024U, read_word(words + 4));
}

TEST_F(DriverOrderTest, AStreamWaitsForAValueThatTheHostWrites) {
  const CUstream waiting = stream(CU_STREAM_NON_BLOCKING);
  void* pinned = nullptr;
  ASSERT_CUDA(driver(cuMemHostAlloc)(&pinned, 8, 0));
  auto* flag = static_cast<std::uint32_t*>(pinned);
  const auto address = reinterpret_cast<CUdeviceptr>(pinned);
  ASSERT_CUDA(driver(cuStreamWaitValue32)(waiting, address, 2, CU_STREAM_WAIT_VALUE_GEQ));
  ASSERT_CUDA(driver(cuStreamWriteValue32)(waiting, address + 4, 9, 0));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, driver(cuStreamQuery)(waiting));
  std::atomic_ref(flag[0]).store(2);
  ASSERT_CUDA(driver(cuStreamSynchronize)(waiting));
  EXPECT_EQ(9U, flag[1]);
  EXPECT_CUDA(driver(cuMemFreeHost)(pinned));
}

TEST_F(DriverOrderTest, HostFunctionsMayNotCallTheDriver) {
  CUresult result = CUDA_SUCCESS;
  ASSERT_CUDA(driver(cuLaunchHostFunc)(
      nullptr,
      [](void* data) {
        CUdeviceptr address = 0;
        *static_cast<CUresult*>(data) = driver(cuMemAlloc)(&address, 1);
      },
      &result));
  ASSERT_CUDA(driver(cuCtxSynchronize)());
  EXPECT_EQ(CUDA_ERROR_NOT_PERMITTED, result);
}

TEST_F(DriverOrderTest, StreamOrderedMemoryIsGivenBackInItsTurn) {
  const CUstream first = stream(CU_STREAM_NON_BLOCKING);
  const CUdeviceptr words = zeroed(1);
  function("spin");  // the module takes memory too
  const std::size_t before = free_bytes();
  CUdeviceptr address = 0;
  ASSERT_CUDA(driver(cuMemAllocAsync)(&address, 65536, first));
  ASSERT_CUDA(launch(first, "spin", words));
  ASSERT_CUDA(launch(first, "store", address, 1U));
  ASSERT_CUDA(driver(cuMemFreeAsync)(address, first));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemFreeAsync)(address, first));
  EXPECT_EQ(before - 65536, free_bytes());
  ASSERT_CUDA(launch(stream(CU_STREAM_NON_BLOCKING), "store", words, 1U));
  ASSERT_CUDA(driver(cuStreamSynchronize)(first));
  EXPECT_EQ(before, free_bytes());
  CUmemoryPool pool = nullptr;
  cuuint64_t used = 1;
  ASSERT_CUDA(driver(cuDeviceGetDefaultMemPool)(&pool, 0));
  ASSERT_CUDA(driver(cuMemPoolGetAttribute)(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  EXPECT_EQ(0U, used);
}

TEST_F(DriverOrderTest, ACaptureIsReplayedAndItsForksJoin) {
  const CUstream origin = stream(CU_STREAM_NON_BLOCKING);
  const CUstream fork = stream(CU_STREAM_NON_BLOCKING);
  const CUdeviceptr words = zeroed(2);
  CUevent event = nullptr;
  ASSERT_CUDA(driver(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING));
  ASSERT_CUDA(driver(cuStreamBeginCapture)(origin, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  ASSERT_CUDA(launch(origin, "add", words, 1U));
  ASSERT_CUDA(driver(cuLaunchCooperativeKernel)(function("say"), 1, 1, 1, 1, 1, 1, 0, origin, nullptr));
  ASSERT_CUDA(driver(cuEventRecord)(event, origin));
  ASSERT_CUDA(driver(cuStreamWaitEvent)(fork, event, 0));
  ASSERT_CUDA(launch(fork, "add", words + 4, 2U));
  EXPECT_EQ(CUDA_ERROR_CAPTURED_EVENT, driver(cuEventQuery)(event));
  ASSERT_CUDA(driver(cuEventRecord)(event, fork));
  ASSERT_CUDA(driver(cuStreamWaitEvent)(origin, event, 0));
  CUgraph graph = nullptr;
  ASSERT_CUDA(driver(cuStreamEndCapture)(origin, &graph));
  EXPECT_EQ(0U, read_word(words));
  CUgraphExec exec = nullptr;
  ASSERT_CUDA(driver(cuGraphInstantiate)(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) ASSERT_CUDA(driver(cuGraphLaunch)(exec, origin));
  ASSERT_CUDA(driver(cuStreamSynchronize)(origin));
  EXPECT_EQ(3U, read_word(words));
  EXPECT_EQ(6U, read_word(words + 4));
  EXPECT_CUDA(driver(cuGraphExecDestroy)(exec));
  EXPECT_CUDA(driver(cuGraphDestroy)(graph));
}

TEST_F(DriverOrderTest, IllegalCallsInvalidateACapture) {
  const CUstream captured = stream(CU_STREAM_NON_BLOCKING);
  CUgraph graph = nullptr;
  CUdeviceptr address = 0;
  ASSERT_CUDA(driver(cuStreamBeginCapture)(captured, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, driver(cuMemAlloc)(&address, 1));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, launch(captured, "say"));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, driver(cuStreamEndCapture)(captured, &graph));

  ASSERT_CUDA(driver(cuStreamBeginCapture)(captured, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  ASSERT_CUDA(driver(cuThreadExchangeStreamCaptureMode)(&mode));
  EXPECT_CUDA(driver(cuMemAlloc)(&address, 1));
  ASSERT_CUDA(driver(cuThreadExchangeStreamCaptureMode)(&mode));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, driver(cuStreamSynchronize)(captured));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, driver(cuStreamEndCapture)(captured, &graph));

  const CUstream blocking = stream(CU_STREAM_DEFAULT);
  ASSERT_CUDA(driver(cuStreamBeginCapture)(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, launch(nullptr, "say"));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, driver(cuStreamEndCapture)(blocking, &graph));
  EXPECT_CUDA(launch(nullptr, "say"));
}

}  // namespace
