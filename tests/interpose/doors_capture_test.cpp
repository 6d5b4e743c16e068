// Captures: that the runtime hears of each before it begins, that nothing is told as enqueued in one, and
// that the driver itself says what a capture forbids.
#include <array>
#include <thread>
#include <tuple>

#include "tests/interpose/doors_fixture.hpp"

namespace {

using doors_test::calls;
using doors_test::kArena;
using doors_test::kStream;
using doors_test::the_runtime;
using Doors = doors_test::DoorsTest;

CUstream capturing = nullptr;
CUresult is_capturing(CUstream stream, CUstreamCaptureStatus* status) {
  *status = stream == capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
const bool replaced =
    (doors_test::replace("cuStreamIsCapturing", reinterpret_cast<void*>(&is_capturing)), true);

// Of kStream, from here to its end.
class Capture {
 public:
  explicit Capture(CUstreamCaptureMode mode) {
    EXPECT_EQ(DOOR(cuStreamBeginCapture_v2)(kStream, mode), CUDA_SUCCESS);
    capturing = kStream;
  }
  ~Capture() {
    capturing = nullptr;
    EXPECT_EQ(DOOR(cuStreamEndCapture)(kStream, nullptr), CUDA_SUCCESS);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
};

bool is_served_here() {
  CUdeviceptr address = 0;
  const std::size_t before = the_runtime().requests.size();
  EXPECT_EQ(DOOR(cuMemAlloc_v2)(&address, 8), CUDA_SUCCESS);
  return the_runtime().requests.size() == before + 1;
}

CUstreamCaptureMode exchanged(CUstreamCaptureMode mode) {
  EXPECT_EQ(DOOR(cuThreadExchangeStreamCaptureMode)(&mode), CUDA_SUCCESS);
  return mode;
}

TEST_F(Doors, EveryWayToBeginACaptureIsTold) {
  constexpr auto kMode = CU_STREAM_CAPTURE_MODE_RELAXED;
  const auto begun = [](CUresult result, CUstream stream, CUresult (*end)(CUstream, CUgraph*),
                        CUstream handle) {
    EXPECT_EQ(result, CUDA_SUCCESS);
    EXPECT_EQ(the_runtime().captured.back(), stream);
    EXPECT_EQ(the_runtime().captures_begun, the_runtime().captured.size());
    EXPECT_EQ(end(handle, nullptr), CUDA_SUCCESS);
  };
  const auto legacy = DOOR(cuStreamEndCapture);
  const auto own = DOOR(cuStreamEndCapture_ptsz);
  begun(DOOR(cuStreamBeginCapture)(kStream), kStream, legacy, kStream);
  begun(DOOR(cuStreamBeginCapture_ptsz)(nullptr), CU_STREAM_PER_THREAD, own, nullptr);
  begun(DOOR(cuStreamBeginCapture_v2)(kStream, kMode), kStream, legacy, kStream);
  begun(DOOR(cuStreamBeginCapture_v2_ptsz)(nullptr, kMode), CU_STREAM_PER_THREAD, own, nullptr);
  begun(DOOR(cuStreamBeginCaptureToGraph)(kStream, nullptr, nullptr, nullptr, 0, kMode), kStream, legacy,
        kStream);
  begun(DOOR(cuStreamBeginCaptureToGraph_ptsz)(nullptr, nullptr, nullptr, nullptr, 0, kMode),
        CU_STREAM_PER_THREAD, own, nullptr);
  EXPECT_EQ(the_runtime().captured.size(), 6u);
  // Each has ended: no stream is asked about.
  capturing = kStream;
  EXPECT_EQ(DOOR(cuMemsetD8Async)(kArena, 0, 8, kStream), CUDA_SUCCESS);
  capturing = nullptr;
  EXPECT_FALSE(the_runtime().seen.back().access.recorded);
}

TEST_F(Doors, ACaptureThatTheDriverRefusesIsNone) {
  stub_set_result("cuStreamBeginCapture_v2", CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(DOOR(cuStreamBeginCapture_v2)(kStream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(the_runtime().captures_begun, 1u);
  EXPECT_TRUE(is_served_here());
}

TEST_F(Doors, InACaptureOnlyWhatTheDriverJudgesIsTold) {
  const Capture capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_EQ(DOOR(cuMemsetD8Async)(kArena, 0, 8, kStream), CUDA_SUCCESS);
  ASSERT_EQ(the_runtime().seen.size(), 1u);
  EXPECT_TRUE(the_runtime().seen[0].access.recorded);
  EXPECT_EQ(the_runtime().seen[0].access.parts, nullptr);
  EXPECT_EQ(DOOR(cuLaunchKernel)(nullptr, 1, 1, 1, 1, 1, 1, 0, kStream, nullptr, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuLaunchHostFunc)(kStream, nullptr, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuMemPrefetchAsync_v2)(kArena, 8, {}, 0, kStream), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().seen.size(), 1u);
  // Another stream goes on as ever.
  EXPECT_EQ(DOOR(cuMemsetD8Async)(kArena, 0, 8, nullptr), CUDA_SUCCESS);
  EXPECT_FALSE(the_runtime().seen.back().access.recorded);
}

TEST_F(Doors, WhatACaptureForbidsTheDriverSays) {
  const Capture capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_FALSE(is_served_here());
  const unsigned frees = calls("cuMemFree_v2");
  EXPECT_EQ(DOOR(cuMemFree_v2)(kArena), CUDA_SUCCESS);
  EXPECT_EQ(calls("cuMemFree_v2"), frees + 1);
  EXPECT_TRUE(the_runtime().freed.empty());
}

TEST_F(Doors, AThreadThatAsksForItMayAllocateInACapture) {
  const Capture capture(CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_TRUE(is_served_here());
  EXPECT_EQ(DOOR(cuMemFree_v2)(kArena), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().freed_in_capture, 1u);
}

TEST_F(Doors, AnotherThreadMayAllocateUnlessTheCaptureIsGlobal) {
  for (const auto& [mode, thread_mode, served] :
       {std::tuple{CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_GLOBAL, false},
        std::tuple{CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, true},
        std::tuple{CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_RELAXED, true},
        std::tuple{CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_GLOBAL, true}}) {
    const Capture capture(mode);
    std::thread other([own = thread_mode, expected = served] {
      exchanged(own);
      EXPECT_EQ(is_served_here(), expected);
    });
    other.join();
  }
}

TEST_F(Doors, AnExchangeThatTheDriverRefusesChangesNothing) {
  const Capture capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
  stub_set_result("cuThreadExchangeStreamCaptureMode", CUDA_ERROR_INVALID_VALUE);
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  EXPECT_EQ(DOOR(cuThreadExchangeStreamCaptureMode)(&mode), CUDA_ERROR_INVALID_VALUE);
  EXPECT_FALSE(is_served_here());
}

TEST_F(Doors, AStreamThatWaitsForACapturedEventIsAboutToBeCaptured) {
  const auto event = reinterpret_cast<CUevent>(0x700);
  EXPECT_EQ(DOOR(cuStreamWaitEvent)(nullptr, event, 0), CUDA_SUCCESS);
  EXPECT_TRUE(the_runtime().captured.empty());
  const Capture capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_EQ(DOOR(cuStreamWaitEvent)(nullptr, event, 0), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuStreamWaitEvent_ptsz)(nullptr, event, 0), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().captured, (std::vector<CUstream>{kStream, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD}));
  EXPECT_EQ(the_runtime().captures_begun, 3u);
}

}  // namespace
