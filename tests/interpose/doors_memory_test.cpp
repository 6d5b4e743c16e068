// Allocations, frees, streams and contexts: what each door tells the runtime and what it leaves to
// the driver.
#include <sys/wait.h>
#include <unistd.h>

#include "tests/interpose/doors_fixture.hpp"

namespace {

using doors_test::calls;
using doors_test::kArena;
using doors_test::kStream;
using doors_test::the_runtime;
using tencache::Bytes;
using tencache::runtime::AllocationKind;
using tencache::runtime::Runtime;
using Doors = doors_test::DoorsTest;

CUresult pitch_of_driver(CUdeviceptr* address, std::size_t* pitch, std::size_t width, std::size_t, unsigned) {
  *address = 0x1000;
  *pitch = (width + 511) / 512 * 512;
  return CUDA_SUCCESS;
}
const bool pitch_replaced =
    (doors_test::replace("cuMemAllocPitch_v2", reinterpret_cast<void*>(&pitch_of_driver)), true);

bool primary_active = false;
CUresult primary_state(CUdevice, unsigned* flags, int* active) {
  *flags = 0;
  *active = primary_active ? 1 : 0;
  return CUDA_SUCCESS;
}
const bool state_replaced =
    (doors_test::replace("cuDevicePrimaryCtxGetState", reinterpret_cast<void*>(&primary_state)), true);

CUresult load_that_allocates(CUmodule*, const char*) {
  CUdeviceptr address = 0;
  return DOOR(cuMemAlloc_v2)(&address, 64);
}
const bool load_replaced =
    (doors_test::replace("cuModuleLoad", reinterpret_cast<void*>(&load_that_allocates)), true);

TEST_F(Doors, SyncAllocationIsServedByTheRuntime) {
  CUdeviceptr address = 0;
  const unsigned before = calls("cuMemAlloc_v2");
  EXPECT_EQ(DOOR(cuMemAlloc_v2)(&address, 12345), CUDA_SUCCESS);
  EXPECT_EQ(address, kArena);
  ASSERT_EQ(the_runtime().requests.size(), 1u);
  EXPECT_EQ(the_runtime().requests[0].kind, AllocationKind::kSync);
  EXPECT_EQ(the_runtime().requests[0].size, Bytes(12345));
  EXPECT_NE(the_runtime().requests[0].caller, nullptr);
  EXPECT_EQ(calls("cuMemAlloc_v2"), before);
}

TEST_F(Doors, ARefusedAllocationWritesNothing) {
  the_runtime().allocation_result = CUDA_ERROR_OUT_OF_MEMORY;
  CUdeviceptr address = 5;
  EXPECT_EQ(DOOR(cuMemAlloc_v2)(&address, 1), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(address, 5u);
}

TEST_F(Doors, WhatTheDriverRefusesByItselfIsLeftToIt) {
  CUdeviceptr address = 0;
  const unsigned before = calls("cuMemAlloc_v2");
  stub_set_result("cuMemAlloc_v2", CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(DOOR(cuMemAlloc_v2)(&address, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(DOOR(cuMemAlloc_v2)(nullptr, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(calls("cuMemAlloc_v2"), before + 2);
  EXPECT_TRUE(the_runtime().requests.empty());
}

TEST_F(Doors, AnAllocationThatIsNotOursGoesOnAndMayTryTwice) {
  the_runtime().verdict = Runtime::Verdict::kNotOurs;
  the_runtime().can_make_room = true;
  stub_set_result("cuMemAlloc_v2", CUDA_ERROR_OUT_OF_MEMORY);
  const unsigned before = calls("cuMemAlloc_v2");
  CUdeviceptr address = 0;
  EXPECT_EQ(DOOR(cuMemAlloc_v2)(&address, 16), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(calls("cuMemAlloc_v2"), before + 2);
  EXPECT_EQ(the_runtime().rooms_made, 1u);
}

TEST_F(Doors, AsyncAllocationsNameTheirStreamByFlavour) {
  CUdeviceptr address = 0;
  const auto pool = reinterpret_cast<CUmemoryPool>(0x9000);
  EXPECT_EQ(DOOR(cuMemAllocAsync)(&address, 8, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuMemAllocAsync_ptsz)(&address, 8, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuMemAllocAsync_ptsz)(&address, 8, kStream), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuMemAllocFromPoolAsync)(&address, 8, pool, kStream), CUDA_SUCCESS);
  const auto& requests = the_runtime().requests;
  ASSERT_EQ(requests.size(), 4u);
  EXPECT_EQ(requests[0].kind, AllocationKind::kAsync);
  EXPECT_EQ(requests[0].stream.handle, CU_STREAM_LEGACY);
  EXPECT_EQ(requests[1].stream.handle, CU_STREAM_PER_THREAD);
  EXPECT_EQ(requests[2].stream.handle, kStream);
  EXPECT_EQ(requests[3].kind, AllocationKind::kPool);
  EXPECT_EQ(requests[3].pool, pool);
}

TEST_F(Doors, APitchedAllocationHasTheDriversPitch) {
  CUdeviceptr address = 0;
  std::size_t pitch = 0;
  EXPECT_EQ(DOOR(cuMemAllocPitch_v2)(&address, &pitch, 700, 3, 4), CUDA_SUCCESS);
  EXPECT_EQ(pitch, 1024u);
  ASSERT_EQ(the_runtime().requests.size(), 1u);
  EXPECT_EQ(the_runtime().requests[0].kind, AllocationKind::kPitched);
  EXPECT_EQ(the_runtime().requests[0].size, Bytes(3072));
}

TEST_F(Doors, APitchedAllocationThatCannotBeMeasuredIsTheDrivers) {
  CUdeviceptr address = 0;
  std::size_t pitch = 0;
  EXPECT_EQ(DOOR(cuMemAllocPitch_v2)(&address, &pitch, 700, 3, 5), CUDA_SUCCESS);
  EXPECT_EQ(address, 0x1000u);
  EXPECT_EQ(DOOR(cuMemAllocPitch_v2)(&address, &pitch, 700, ~std::size_t{0}, 4), CUDA_SUCCESS);
  EXPECT_TRUE(the_runtime().requests.empty());
}

using PoolEvents = std::vector<std::pair<std::string, CUmemoryPool>>;
const auto kPool = reinterpret_cast<CUmemoryPool>(0x9000);
CUresult create_pool(CUmemoryPool* pool, const CUmemPoolProps*) {
  *pool = kPool;
  return CUDA_SUCCESS;
}
CUresult pool_attribute(CUmemoryPool, CUmemPool_attribute, void* value) {
  *static_cast<cuuint64_t*>(value) = 7;
  return CUDA_SUCCESS;
}
const bool pools_replaced = [] {
  doors_test::replace("cuMemPoolCreate", reinterpret_cast<void*>(&create_pool));
  doors_test::replace("cuMemPoolGetAttribute", reinterpret_cast<void*>(&pool_attribute));
  return true;
}();

TEST_F(Doors, WhatBecomesOfPoolsIsTold) {
  CUmemoryPool pool = nullptr;
  const CUmemPoolProps properties{};
  cuuint64_t value = 0;
  EXPECT_EQ(DOOR(cuMemPoolCreate)(&pool, &properties), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuMemPoolSetAccess)(pool, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuMemPoolTrimTo)(pool, 0), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuMemPoolSetAttribute)(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &value), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuDeviceSetMemPool)(0, pool), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuMemSetMemPool)(nullptr, CU_MEM_ALLOCATION_TYPE_PINNED, pool), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuMemPoolDestroy)(pool), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().pool_events, (PoolEvents{{"created", kPool},
                                                   {"shared", kPool},
                                                   {"trimmed", kPool},
                                                   {"set", kPool},
                                                   {"changed", nullptr},
                                                   {"changed", nullptr},
                                                   {"destroyed", kPool}}));
}

TEST_F(Doors, WhatIsInUseOfAPoolIsTheDriversAndOurs) {
  cuuint64_t value = 0;
  EXPECT_EQ(DOOR(cuMemPoolGetAttribute)(kPool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value), CUDA_SUCCESS);
  EXPECT_EQ(value, 1007u);
}

TEST_F(Doors, APoolThatTheDriverRefusesIsNotTold) {
  stub_set_result("cuMemPoolDestroy", CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(DOOR(cuMemPoolDestroy)(kPool), CUDA_ERROR_INVALID_VALUE);
  EXPECT_TRUE(the_runtime().pool_events.empty());
}

TEST_F(Doors, FreesGoToTheOwner) {
  const unsigned before = calls("cuMemFree_v2");
  EXPECT_EQ(DOOR(cuMemFree_v2)(kArena + 5), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuMemFreeAsync_ptsz)(kArena + 6, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().freed, (std::vector<CUdeviceptr>{kArena + 5, kArena + 6}));
  EXPECT_EQ(the_runtime().free_streams, std::vector<CUstream>{CU_STREAM_PER_THREAD});
  EXPECT_EQ(calls("cuMemFree_v2"), before);
  EXPECT_EQ(DOOR(cuMemFree_v2)(0x1234), CUDA_SUCCESS);
  EXPECT_EQ(calls("cuMemFree_v2"), before + 1);
}

TEST_F(Doors, SynchronisationIsToldWhenItSucceeded) {
  EXPECT_EQ(DOOR(cuStreamSynchronize)(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuStreamQuery_ptsz)(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuStreamSynchronize_ptsz)(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().synchronized,
            (std::vector<CUstream>{CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CU_STREAM_PER_THREAD}));
  stub_set_result("cuStreamQuery", CUDA_ERROR_NOT_READY);
  EXPECT_EQ(DOOR(cuStreamQuery)(kStream), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(the_runtime().synchronized.size(), 3u);
  stub_set_result("cuStreamSynchronize", CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(DOOR(cuStreamSynchronize)(kStream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(the_runtime().failures, (std::vector{CUDA_ERROR_NOT_READY, CUDA_ERROR_ILLEGAL_ADDRESS}));
  EXPECT_EQ(DOOR(cuCtxSynchronize)(), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuCtxSynchronize_v2)(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().contexts_synchronized, 2u);
  EXPECT_EQ(DOOR(cuCtxSynchronize_v2)(reinterpret_cast<CUcontext>(0x77)), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().contexts_synchronized, 2u);
}

TEST_F(Doors, AStreamIsAnnouncedBeforeItGoes) {
  EXPECT_EQ(DOOR(cuStreamDestroy_v2)(kStream), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuStreamDestroy)(kStream), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().destroyed, (std::vector<CUstream>{kStream, kStream}));
}

TEST_F(Doors, AContextIsAnnouncedBeforeItGoes) {
  const auto context = reinterpret_cast<CUcontext>(0x6000);
  const unsigned before = calls("cuCtxDestroy_v2");
  EXPECT_EQ(DOOR(cuCtxDestroy_v2)(context), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().contexts_destroyed,
            (std::vector<std::pair<CUcontext, unsigned>>{{context, before}}));
}

TEST_F(Doors, TheLastReleaseOfAPrimaryContextIsAReset) {
  const unsigned before = calls("cuDevicePrimaryCtxReset_v2");
  using Events = std::vector<doors_test::RecordingRuntime::Primary>;
  primary_active = true;
  EXPECT_EQ(DOOR(cuDevicePrimaryCtxRelease_v2)(3), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().primaries, (Events{{3, "may go", before}, {3, "stays", before}}));
  the_runtime().primaries.clear();
  primary_active = false;
  EXPECT_EQ(DOOR(cuDevicePrimaryCtxRelease_v2)(3), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().primaries, (Events{{3, "may go", before}, {3, "is gone", before}}));
}

TEST_F(Doors, OursRestsWhileTheDriverResetsAPrimaryContext) {
  const unsigned before = calls("cuDevicePrimaryCtxReset_v2");
  using Events = std::vector<doors_test::RecordingRuntime::Primary>;
  EXPECT_EQ(DOOR(cuDevicePrimaryCtxReset_v2)(4), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().primaries, (Events{{4, "may go", before}, {4, "is gone", before + 1}}));
  the_runtime().primaries.clear();
  stub_set_result("cuDevicePrimaryCtxReset_v2", CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(DOOR(cuDevicePrimaryCtxReset_v2)(4), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(the_runtime().primaries, (Events{{4, "may go", before + 1}, {4, "stays", before + 2}}));
}

int peers = 1;
CUresult can_access(int* can, CUdevice, CUdevice) {
  *can = peers;
  return CUDA_SUCCESS;
}
const bool peers_replaced =
    (doors_test::replace("cuDeviceCanAccessPeer", reinterpret_cast<void*>(&can_access)), true);

TEST_F(Doors, NoDeviceReachesAnothersMemory) {
  int can = 5;
  EXPECT_EQ(DOOR(cuDeviceCanAccessPeer)(&can, 0, 1), CUDA_SUCCESS);
  EXPECT_EQ(can, 0);
  can = 5;
  EXPECT_EQ(DOOR(cuDeviceGetP2PAttribute)(&can, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1),
            CUDA_SUCCESS);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(DOOR(cuCtxEnablePeerAccess)(nullptr, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  EXPECT_EQ(calls("cuCtxEnablePeerAccess"), 0u);
}

TEST_F(Doors, TheDriversOwnCallsPassStraight) {
  const unsigned before = calls("cuMemAlloc_v2");
  CUmodule module = nullptr;
  EXPECT_EQ(DOOR(cuModuleLoad)(&module, "x"), CUDA_SUCCESS);
  EXPECT_EQ(calls("cuMemAlloc_v2"), before + 1);
  EXPECT_TRUE(the_runtime().requests.empty());
}

TEST_F(Doors, CallsThatPassAreTriedAgainWhenRoomWasMade) {
  stub_set_result("cuEventCreate", CUDA_ERROR_OUT_OF_MEMORY);
  CUevent event = nullptr;
  const unsigned before = calls("cuEventCreate");
  EXPECT_EQ(DOOR(cuEventCreate)(&event, 0), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(calls("cuEventCreate"), before + 1);
  the_runtime().can_make_room = true;
  EXPECT_EQ(DOOR(cuEventCreate)(&event, 0), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(calls("cuEventCreate"), before + 3);
  EXPECT_EQ(the_runtime().rooms_made, 2u);
}

TEST_F(Doors, AsMuchRoomIsMadeAsTheCallTakes) {
  the_runtime().can_make_room = true;
  for (const char* const symbol : {"cuMemCreate", "cuMemAllocManaged", "cuArrayCreate_v2",
                                   "cuArray3DCreate_v2", "cuMipmappedArrayCreate"})
    stub_set_result(symbol, CUDA_ERROR_OUT_OF_MEMORY);
  CUmemAllocationProp where{};
  where.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(DOOR(cuMemCreate)(&handle, 123, &where, 0), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(calls("cuMemCreate"), 2u);
  EXPECT_EQ(the_runtime().room_wanted, Bytes(123));
  CUdeviceptr address = 0;
  EXPECT_EQ(DOOR(cuMemAllocManaged)(&address, 456, 0), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(the_runtime().room_wanted, Bytes(456));
  CUarray array = nullptr;
  CUmipmappedArray levels = nullptr;
  const CUDA_ARRAY_DESCRIPTOR flat{10, 3, CU_AD_FORMAT_HALF, 4};
  EXPECT_EQ(DOOR(cuArrayCreate_v2)(&array, &flat), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(the_runtime().room_wanted, Bytes(240));
  const CUDA_ARRAY3D_DESCRIPTOR deep{10, 3, 2, CU_AD_FORMAT_FLOAT, 1, 0};
  EXPECT_EQ(DOOR(cuArray3DCreate_v2)(&array, &deep), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(the_runtime().room_wanted, Bytes(240));
  EXPECT_EQ(DOOR(cuMipmappedArrayCreate)(&levels, &deep, 2), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(the_runtime().room_wanted, Bytes(480));
}

TEST_F(Doors, NoRoomOnTheDeviceIsMadeForMemoryOfTheHost) {
  the_runtime().can_make_room = true;
  stub_set_result("cuMemCreate", CUDA_ERROR_OUT_OF_MEMORY);
  CUmemAllocationProp where{};
  where.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(DOOR(cuMemCreate)(&handle, 123, &where, 0), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(the_runtime().rooms_made, 0u);
}

TEST_F(Doors, AForkedChildPassesStraight) {
  const pid_t child = fork();
  if (child == 0) {
    CUdeviceptr address = 0;
    const unsigned before = calls("cuMemAlloc_v2");
    const bool to_driver =
        DOOR(cuMemAlloc_v2)(&address, 8) == CUDA_SUCCESS && calls("cuMemAlloc_v2") == before + 1;
    const unsigned frees = calls("cuMemFree_v2");
    const bool kept = DOOR(cuMemFree_v2)(kArena) == CUDA_SUCCESS && calls("cuMemFree_v2") == frees + 1;
    _exit(to_driver && kept && the_runtime().passive == 1 ? 7 : 8);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(the_runtime().passive, 0u);
}

}  // namespace
