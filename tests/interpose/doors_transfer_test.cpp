// Copies, memsets and what is only ordered: the access each call is told as.
#include <array>
#include <tuple>

#include "tests/interpose/doors_fixture.hpp"

namespace {

using doors_test::kArena;
using doors_test::kStream;
using doors_test::the_runtime;
using tencache::Bytes;
using tencache::runtime::Access;
using tencache::runtime::AccessKind;
using tencache::runtime::Range;
using tencache::runtime::Rows;
using Doors = doors_test::DoorsTest;

constexpr CUdeviceptr kDestination = kArena + 0x100000;
constexpr CUdeviceptr kSource = kArena + 0x200000;
constexpr CUdeviceptr kForeign = 0x300000000000;

struct Call {
  CUdeviceptr destination;
  CUdeviceptr source;
  std::size_t size;
  CUstream stream;
  bool operator==(const Call&) const = default;
};
std::vector<Call> made;

CUresult copy_to_device(CUdeviceptr destination, const void* source, std::size_t size, CUstream stream) {
  made.push_back({destination, reinterpret_cast<CUdeviceptr>(source), size, stream});
  return CUDA_SUCCESS;
}
CUresult fill_words(CUdeviceptr destination, unsigned value, std::size_t count) {
  made.push_back({destination, value, count, nullptr});
  return CUDA_SUCCESS;
}
std::vector<CUDA_MEMCPY3D> made_deep;
CUresult copy_deep(const CUDA_MEMCPY3D* copy, CUstream) {
  made_deep.push_back(*copy);
  return CUDA_SUCCESS;
}
CUresult copy_array(CUarray, std::size_t offset, CUdeviceptr source, std::size_t size) {
  made.push_back({offset, source, size, nullptr});
  return CUDA_SUCCESS;
}
CUresult fill_rows(CUdeviceptr destination, std::size_t pitch, unsigned short value, std::size_t width,
                   std::size_t height) {
  made.push_back({destination, pitch * 1000 + value, width * 1000 + height, nullptr});
  return CUDA_SUCCESS;
}
bool memory_is_known = false;
CUresult attribute(void* data, CUpointer_attribute, CUdeviceptr) {
  if (memory_is_known) *static_cast<CUmemorytype*>(data) = CU_MEMORYTYPE_HOST;
  return memory_is_known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
const bool replaced = [] {
  doors_test::replace("cuMemcpyHtoDAsync_v2", reinterpret_cast<void*>(&copy_to_device));
  doors_test::replace("cuMemsetD32_v2", reinterpret_cast<void*>(&fill_words));
  doors_test::replace("cuMemcpy3DAsync_v2", reinterpret_cast<void*>(&copy_deep));
  doors_test::replace("cuMemcpyDtoA_v2", reinterpret_cast<void*>(&copy_array));
  doors_test::replace("cuMemsetD2D16_v2", reinterpret_cast<void*>(&fill_rows));
  doors_test::replace("cuPointerGetAttribute", reinterpret_cast<void*>(&attribute));
  return true;
}();

const Access& last() { return the_runtime().seen.back().access; }

void expect_range(const Range& range, CUdeviceptr base, std::size_t size) {
  EXPECT_EQ(range.size, Bytes(size));
  EXPECT_TRUE(size == 0 || range.base == base);
}

void expect_copy(CUstream stream, std::size_t destination_size, std::size_t source_size) {
  ASSERT_FALSE(the_runtime().seen.empty());
  EXPECT_EQ(last().kind, AccessKind::kCopy);
  EXPECT_EQ(last().stream.handle, stream);
  expect_range(last().destination, kDestination, destination_size);
  expect_range(last().source, kSource, source_size);
  EXPECT_EQ(last().destination_overwritten, destination_size != 0);
}

TEST_F(Doors, LinearCopiesInEveryFlavour) {
  std::array<char, 64> host{};
  const auto array = reinterpret_cast<CUarray>(0x8000);
  DOOR(cuMemcpy)(kDestination, kSource, 64);
  expect_copy(CU_STREAM_LEGACY, 64, 64);
  DOOR(cuMemcpy_ptds)(kDestination, kSource, 64);
  expect_copy(CU_STREAM_PER_THREAD, 64, 64);
  DOOR(cuMemcpyAsync)(kDestination, kForeign, 64, kStream);
  expect_copy(kStream, 64, 0);
  DOOR(cuMemcpyAsync_ptsz)(kForeign, kSource, 64, nullptr);
  expect_copy(CU_STREAM_PER_THREAD, 0, 64);
  DOOR(cuMemcpyPeer)(kDestination, nullptr, kSource, nullptr, 64);
  expect_copy(CU_STREAM_LEGACY, 64, 64);
  DOOR(cuMemcpyPeerAsync_ptsz)(kDestination, nullptr, kSource, nullptr, 64, kStream);
  expect_copy(kStream, 64, 64);
  DOOR(cuMemcpyHtoD_v2)(kDestination, host.data(), 64);
  expect_copy(CU_STREAM_LEGACY, 64, 0);
  DOOR(cuMemcpyHtoDAsync_v2_ptsz)(kDestination, host.data(), 64, nullptr);
  expect_copy(CU_STREAM_PER_THREAD, 64, 0);
  DOOR(cuMemcpyDtoH_v2_ptds)(host.data(), kSource, 64);
  expect_copy(CU_STREAM_PER_THREAD, 0, 64);
  EXPECT_TRUE(last().synchronous);
  DOOR(cuMemcpyDtoHAsync_v2)(host.data(), kSource, 64, kStream);
  expect_copy(kStream, 0, 64);
  EXPECT_FALSE(last().synchronous);
  DOOR(cuMemcpyDtoD_v2)(kDestination, kSource, 64);
  expect_copy(CU_STREAM_LEGACY, 64, 64);
  EXPECT_FALSE(last().synchronous);
  DOOR(cuMemcpyDtoDAsync_v2)(kDestination, kSource, 64, kStream);
  expect_copy(kStream, 64, 64);
  DOOR(cuMemcpyDtoA_v2)(array, 0, kSource, 64);
  expect_copy(CU_STREAM_LEGACY, 0, 64);
  DOOR(cuMemcpyAtoD_v2)(kDestination, array, 0, 64);
  expect_copy(CU_STREAM_LEGACY, 64, 0);
}

TEST_F(Doors, OnlyPageableSourcesAreHandedOverForTheScan) {
  std::array<char, 64> host{};
  memory_is_known = false;
  DOOR(cuMemcpyHtoD_v2)(kDestination, host.data(), 64);
  EXPECT_EQ(last().host_source, host.data());
  DOOR(cuMemcpy)(kDestination, reinterpret_cast<CUdeviceptr>(host.data()), 64);
  EXPECT_EQ(last().host_source, host.data());
  DOOR(cuMemcpyDtoD_v2)(kDestination, kForeign, 64);
  EXPECT_EQ(last().host_source, nullptr);
  memory_is_known = true;
  DOOR(cuMemcpyHtoD_v2)(kDestination, host.data(), 64);
  EXPECT_EQ(last().host_source, nullptr);
  memory_is_known = false;
}

TEST_F(Doors, PartsOfACopyAreTheSameCallOnSomeOfIt) {
  std::array<char, 256> host{};
  const auto source = reinterpret_cast<CUdeviceptr>(host.data());
  made.clear();
  the_runtime().on_before = [](const Access& access) {
    const Rows rest = access.parts->rows_at(64);
    EXPECT_EQ(rest.size(), Bytes(192));
    EXPECT_EQ(access.parts->issue(64, rest.within(Bytes(128), rest.size()), kForeign, 0), CUDA_SUCCESS);
    EXPECT_EQ(access.parts->issue(192, access.parts->rows_at(192), 0, 0), CUDA_SUCCESS);
    EXPECT_EQ(access.parts->rows_at(256).count, 0u);
  };
  the_runtime().admission = {false, CUDA_ERROR_INVALID_VALUE, 0};
  EXPECT_EQ(DOOR(cuMemcpyHtoDAsync_v2)(kDestination, host.data(), 256, kStream), CUDA_ERROR_INVALID_VALUE);
  const std::vector<Call> expected{{kForeign, source + 64, 128, kStream},
                                   {kDestination + 192, source + 192, 64, kStream}};
  EXPECT_EQ(made, expected);
  EXPECT_TRUE(the_runtime().tickets.empty());
}

CUDA_MEMCPY3D deep_copy() {
  CUDA_MEMCPY3D copy{};
  copy.dstMemoryType = copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = kDestination;
  copy.dstPitch = 100;
  copy.dstHeight = 10;
  copy.dstXInBytes = 3;
  copy.dstY = 2;
  copy.dstZ = 1;
  copy.srcDevice = kForeign;
  copy.srcPitch = 64;
  copy.srcHeight = 8;
  copy.srcXInBytes = 1;
  copy.srcZ = 5;
  copy.WidthInBytes = 16;
  copy.Height = 4;
  copy.Depth = 3;
  return copy;
}

TEST_F(Doors, PartsOfADeepCopyAreBoxesOfIt) {
  made_deep.clear();
  const CUDA_MEMCPY3D copy = deep_copy();
  the_runtime().on_before = [](const Access& access) {
    EXPECT_EQ(access.parts->rows_at(16 * 12).count, 0u);
    const std::uint64_t offset = 16 * (4 * 2 + 1);  // third slice, second row
    const Rows rows = access.parts->rows_at(offset);
    EXPECT_EQ(rows.count, 3u);
    EXPECT_EQ(rows.destination, (2 * 10 + 1) * 100u);
    EXPECT_EQ(access.parts->issue(offset, rows, kSource, 0), CUDA_SUCCESS);
    const Rows piece = access.parts->rows_at(offset + 6).within(Bytes(9), Bytes(100));
    EXPECT_EQ(access.parts->issue(offset + 6, piece, 0, kSource), CUDA_SUCCESS);
  };
  the_runtime().admission = {false, CUDA_SUCCESS, 0};
  EXPECT_EQ(DOOR(cuMemcpy3DAsync_v2)(&copy, kStream), CUDA_SUCCESS);
  ASSERT_EQ(made_deep.size(), 2u);
  const CUDA_MEMCPY3D& rows = made_deep[0];
  EXPECT_EQ(rows.dstDevice, kSource);
  EXPECT_EQ(rows.dstXInBytes + rows.dstY + rows.dstZ, 0u);
  EXPECT_EQ(rows.srcDevice, kForeign);
  EXPECT_EQ(std::make_tuple(rows.srcXInBytes, rows.srcY, rows.srcZ), std::make_tuple(1u, 1u, 7u));
  EXPECT_EQ(std::make_tuple(rows.WidthInBytes, rows.Height, rows.Depth), std::make_tuple(16u, 3u, 1u));
  const CUDA_MEMCPY3D& piece = made_deep[1];
  EXPECT_EQ(piece.dstDevice, kDestination);
  EXPECT_EQ(std::make_tuple(piece.dstXInBytes, piece.dstY, piece.dstZ), std::make_tuple(9u, 3u, 3u));
  EXPECT_EQ(std::make_tuple(piece.srcDevice, piece.srcXInBytes), std::make_tuple(kSource, std::size_t{0}));
  EXPECT_EQ(std::make_tuple(piece.WidthInBytes, piece.Height), std::make_tuple(9u, 1u));
}

TEST_F(Doors, PartsOfACopyToAnArrayMoveAlongIt) {
  made.clear();
  the_runtime().on_before = [](const Access& access) {
    EXPECT_EQ(access.parts->issue(64, access.parts->rows_at(64), 0, kForeign), CUDA_SUCCESS);
  };
  the_runtime().admission = {false, CUDA_SUCCESS, 0};
  const auto array = reinterpret_cast<CUarray>(0x8000);
  EXPECT_EQ(DOOR(cuMemcpyDtoA_v2)(array, 1000, kSource, 256), CUDA_SUCCESS);
  EXPECT_EQ(made, (std::vector<Call>{{1064, kForeign, 192, nullptr}}));
}

TEST_F(Doors, PartsOfAPitchedMemsetAreRows) {
  made.clear();
  the_runtime().on_before = [](const Access& access) {
    const Rows rows = access.parts->rows_at(20).within(Bytes(200), Bytes(200));
    EXPECT_EQ(rows.destination, 64u);
    EXPECT_EQ(access.parts->issue(20, rows, kForeign, 0), CUDA_SUCCESS);
  };
  the_runtime().admission = {false, CUDA_SUCCESS, 0};
  EXPECT_EQ(DOOR(cuMemsetD2D16_v2)(kDestination, 64, 7, 10, 9), CUDA_SUCCESS);
  EXPECT_EQ(made, (std::vector<Call>{{kForeign, 64007, 10003, nullptr}}));
}

TEST_F(Doors, AForwardedCallIsMadeOnceAndItsResultTold) {
  std::array<char, 16> host{};
  made.clear();
  EXPECT_EQ(DOOR(cuMemcpyHtoDAsync_v2)(kDestination, host.data(), 16, kStream), CUDA_SUCCESS);
  EXPECT_EQ(made.size(), 1u);
  EXPECT_EQ(the_runtime().tickets, std::vector<std::uint64_t>{7});
  EXPECT_EQ(the_runtime().results, std::vector<CUresult>{CUDA_SUCCESS});
}

TEST_F(Doors, ShapedCopiesAreTheSpanTheyTouch) {
  CUDA_MEMCPY2D flat{};
  flat.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  flat.dstDevice = kDestination;
  flat.dstPitch = 32;
  flat.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  flat.srcDevice = kSource;
  flat.srcPitch = 100;
  flat.WidthInBytes = 32;
  flat.Height = 4;
  DOOR(cuMemcpy2D_v2)(&flat);
  expect_copy(CU_STREAM_LEGACY, 128, 332);
  DOOR(cuMemcpy2DUnaligned_v2_ptds)(&flat);
  expect_copy(CU_STREAM_PER_THREAD, 128, 332);
  DOOR(cuMemcpy2D_v2_ptds)(&flat);
  expect_copy(CU_STREAM_PER_THREAD, 128, 332);
  DOOR(cuMemcpy2DUnaligned_v2)(&flat);
  expect_copy(CU_STREAM_LEGACY, 128, 332);
  DOOR(cuMemcpy2DAsync_v2)(&flat, kStream);
  expect_copy(kStream, 128, 332);
  DOOR(cuMemcpy2DAsync_v2_ptsz)(&flat, nullptr);
  expect_copy(CU_STREAM_PER_THREAD, 128, 332);

  CUDA_MEMCPY3D deep{};
  deep.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  deep.dstDevice = kDestination;
  deep.dstPitch = 16;
  deep.dstHeight = 4;
  deep.srcMemoryType = CU_MEMORYTYPE_HOST;
  deep.WidthInBytes = 16;
  deep.Height = 4;
  deep.Depth = 2;
  DOOR(cuMemcpy3D_v2)(&deep);
  expect_copy(CU_STREAM_LEGACY, 128, 0);
  DOOR(cuMemcpy3D_v2_ptds)(&deep);
  expect_copy(CU_STREAM_PER_THREAD, 128, 0);
  DOOR(cuMemcpy3DAsync_v2_ptsz)(&deep, nullptr);
  expect_copy(CU_STREAM_PER_THREAD, 128, 0);
  CUDA_MEMCPY3D_PEER peer{};
  peer.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  peer.srcDevice = kSource;
  peer.srcPitch = 64;
  peer.srcHeight = 8;
  peer.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  peer.WidthInBytes = 16;
  peer.Height = 4;
  peer.Depth = 2;
  DOOR(cuMemcpy3DPeerAsync)(&peer, kStream);
  expect_copy(kStream, 0, 64 * 11 + 16);
  DOOR(cuMemcpy3DPeerAsync_ptsz)(&peer, nullptr);
  expect_copy(CU_STREAM_PER_THREAD, 0, 64 * 11 + 16);
  DOOR(cuMemcpy3DPeer)(&peer);
  expect_copy(CU_STREAM_LEGACY, 0, 64 * 11 + 16);
  DOOR(cuMemcpy3DPeer_ptds)(&peer);
  expect_copy(CU_STREAM_PER_THREAD, 0, 64 * 11 + 16);
}

TEST_F(Doors, AShapedCopyThatLeavesBytesOutDoesNotOverwrite) {
  CUDA_MEMCPY2D copy{};
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = kDestination;
  copy.dstPitch = 64;
  copy.dstXInBytes = 8;
  copy.dstY = 1;
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.WidthInBytes = 32;
  copy.Height = 2;
  DOOR(cuMemcpy2D_v2)(&copy);
  expect_range(last().destination, kDestination + 72, 96);
  EXPECT_FALSE(last().destination_overwritten);
}

TEST_F(Doors, MemsetsInEveryWidthAndFlavour) {
  const auto expect_fill = [](CUstream stream, std::size_t size, bool overwritten) {
    EXPECT_EQ(last().kind, AccessKind::kMemset);
    EXPECT_EQ(last().stream.handle, stream);
    expect_range(last().destination, kDestination, size);
    EXPECT_EQ(last().destination_overwritten, overwritten);
    EXPECT_FALSE(last().synchronous);
  };
  DOOR(cuMemsetD8_v2)(kDestination, 1, 100);
  expect_fill(CU_STREAM_LEGACY, 100, true);
  DOOR(cuMemsetD16_v2_ptds)(kDestination, 1, 100);
  expect_fill(CU_STREAM_PER_THREAD, 200, true);
  DOOR(cuMemsetD32_v2)(kDestination, 1, 100);
  expect_fill(CU_STREAM_LEGACY, 400, true);
  DOOR(cuMemsetD8Async)(kDestination, 1, 100, kStream);
  expect_fill(kStream, 100, true);
  DOOR(cuMemsetD16Async_ptsz)(kDestination, 1, 100, nullptr);
  expect_fill(CU_STREAM_PER_THREAD, 200, true);
  DOOR(cuMemsetD32Async)(kDestination, 1, 100, nullptr);
  expect_fill(CU_STREAM_LEGACY, 400, true);
  DOOR(cuMemsetD2D8_v2)(kDestination, 64, 1, 64, 2);
  expect_fill(CU_STREAM_LEGACY, 128, true);
  DOOR(cuMemsetD2D16_v2)(kDestination, 64, 1, 8, 2);
  expect_fill(CU_STREAM_LEGACY, 80, false);
  DOOR(cuMemsetD2D32_v2_ptds)(kDestination, 64, 1, 16, 2);
  expect_fill(CU_STREAM_PER_THREAD, 128, true);
  DOOR(cuMemsetD2D8Async)(kDestination, 64, 1, 8, 2, kStream);
  expect_fill(kStream, 72, false);
  DOOR(cuMemsetD2D16Async_ptsz)(kDestination, 64, 1, 8, 2, kStream);
  expect_fill(kStream, 80, false);
  DOOR(cuMemsetD2D32Async)(kDestination, 64, 1, 8, 2, nullptr);
  expect_fill(CU_STREAM_LEGACY, 96, false);
}

TEST_F(Doors, PartsOfAMemsetCountElements) {
  made.clear();
  the_runtime().on_before = [](const Access& access) {
    const Rows rest = access.parts->rows_at(64);
    EXPECT_EQ(access.parts->issue(64, rest.within(Bytes(128), rest.size()), kForeign, 0), CUDA_SUCCESS);
  };
  the_runtime().admission = {false, CUDA_SUCCESS, 0};
  EXPECT_EQ(DOOR(cuMemsetD32_v2)(kDestination, 9, 64), CUDA_SUCCESS);
  EXPECT_EQ(made, (std::vector<Call>{{kForeign, 9, 32, nullptr}}));
}

TEST_F(Doors, WhatIsOnlyOrderedIsToldByKind) {
  DOOR(cuGraphLaunch_ptsz)(nullptr, nullptr);
  EXPECT_EQ(last().kind, AccessKind::kGraph);
  EXPECT_TRUE(last().opaque);
  EXPECT_EQ(last().stream.handle, CU_STREAM_PER_THREAD);
  DOOR(cuLaunchHostFunc)(kStream, nullptr, nullptr);
  EXPECT_EQ(last().kind, AccessKind::kHostFunction);
  DOOR(cuStreamWaitValue32_v2)(kStream, 0, 0, 0);
  EXPECT_EQ(last().kind, AccessKind::kStreamWait);
  EXPECT_EQ(last().stream.handle, kStream);
  DOOR(cuLaunchGridAsync)(nullptr, 1, 1, kStream);
  EXPECT_EQ(last().kind, AccessKind::kLaunch);
  EXPECT_EQ(last().stream.handle, kStream);
  EXPECT_TRUE(last().opaque);
  EXPECT_EQ(the_runtime().tickets.size(), 4u);
}

}  // namespace
