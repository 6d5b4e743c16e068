// Tests of the virtual memory management API and of what kernels and copies see of it.
#include <cstring>
#include <vector>

#include "tests/softgpu/driver_test.hpp"

namespace {

constexpr std::size_t kGranularity = std::size_t{2} << 20;

class DriverVmmTest : public DriverTest {
 protected:
  static CUmemAllocationProp properties(CUmemLocationType type, int id) {
    CUmemAllocationProp result{};
    result.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    result.location = {type, id};
    return result;
  }
  CUmemGenericAllocationHandle create(CUmemLocationType type = CU_MEM_LOCATION_TYPE_DEVICE,
                                      std::size_t bytes = kGranularity) {
    CUmemGenericAllocationHandle handle = 0;
    const CUmemAllocationProp prop = properties(type, 0);
    EXPECT_CUDA(driver(cuMemCreate)(&handle, bytes, &prop, 0));
    return handle;
  }
  CUdeviceptr reserve(std::size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_CUDA(driver(cuMemAddressReserve)(&address, bytes, 0, 0, 0));
    return address;
  }
  CUresult set_access(CUdeviceptr address, std::size_t bytes,
                      CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                      CUmemLocationType type = CU_MEM_LOCATION_TYPE_DEVICE) {
    const CUmemAccessDesc description{{type, 0}, flags};
    return driver(cuMemSetAccess)(address, bytes, &description, 1);
  }
  void map(CUdeviceptr address, CUmemGenericAllocationHandle handle) {
    ASSERT_CUDA(driver(cuMemMap)(address, kGranularity, 0, handle, 0));
    ASSERT_CUDA(set_access(address, kGranularity));
  }
};

TEST_F(DriverVmmTest, TwoMappingsOfABlockAgree) {
  const CUdeviceptr range = reserve(2 * kGranularity);
  const auto handle = create();
  map(range, handle);
  map(range + kGranularity, handle);
  ASSERT_CUDA(launch(nullptr, "store", range + 64, 11U));
  EXPECT_EQ(11U, read_word(range + kGranularity + 64));
  ASSERT_CUDA(driver(cuMemUnmap)(range, 2 * kGranularity));
  ASSERT_CUDA(driver(cuMemRelease)(handle));
  ASSERT_CUDA(driver(cuMemAddressFree)(range, 2 * kGranularity));
}

TEST_F(DriverVmmTest, MemoryIsTakenByCreateAndGivenBackByTheLastOfReleaseAndUnmap) {
  const std::size_t before = free_bytes();
  const CUdeviceptr range = reserve(kGranularity);
  const auto handle = create();
  EXPECT_EQ(before - kGranularity, free_bytes());
  map(range, handle);
  ASSERT_CUDA(driver(cuMemRelease)(handle));
  EXPECT_EQ(before - kGranularity, free_bytes());
  CUmemGenericAllocationHandle again = 0;
  ASSERT_CUDA(driver(cuMemRetainAllocationHandle)(&again, reinterpret_cast<void*>(range)));
  EXPECT_EQ(handle, again);
  ASSERT_CUDA(driver(cuMemUnmap)(range, kGranularity));
  EXPECT_EQ(before - kGranularity, free_bytes());
  ASSERT_CUDA(driver(cuMemRelease)(again));
  EXPECT_EQ(before, free_bytes());
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemRelease)(again));
}

TEST_F(DriverVmmTest, TheAddressIsDeadBetweenUnmapAndSetAccess) {
  const CUdeviceptr range = reserve(kGranularity);
  const auto handle = create();
  std::uint32_t word = 0;
  ASSERT_CUDA(driver(cuMemMap)(range, kGranularity, 0, handle, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemcpyHtoD)(range, &word, 4));
  ASSERT_CUDA(launch(nullptr, "store", range, 1U));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, driver(cuCtxSynchronize)());
}

TEST_F(DriverVmmTest, AReadOnlyMappingRefusesStores) {
  const CUdeviceptr range = reserve(kGranularity);
  map(range, create());
  ASSERT_CUDA(set_access(range, kGranularity, CU_MEM_ACCESS_FLAGS_PROT_READ));
  ASSERT_CUDA(launch(nullptr, "read_all", range, std::uint64_t{1000}));
  ASSERT_CUDA(driver(cuCtxSynchronize)());
  ASSERT_CUDA(launch(nullptr, "store", range, 1U));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, driver(cuCtxSynchronize)());
}

TEST_F(DriverVmmTest, RefusesPartsOffsetsAndOddSizes) {
  const CUdeviceptr range = reserve(4 * kGranularity);
  const auto handle = create(CU_MEM_LOCATION_TYPE_DEVICE, 2 * kGranularity);
  const CUmemAllocationProp prop = properties(CU_MEM_LOCATION_TYPE_DEVICE, 0);
  CUmemGenericAllocationHandle other = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemCreate)(&other, kGranularity / 2, &prop, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemMap)(range, kGranularity, kGranularity, handle, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemMap)(range, kGranularity, 0, handle, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            driver(cuMemMap)(range + 3 * kGranularity, 2 * kGranularity, 0, handle, 0));
  ASSERT_CUDA(driver(cuMemMap)(range, 2 * kGranularity, 0, handle, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemMap)(range + kGranularity, 2 * kGranularity, 0, handle, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, set_access(range, kGranularity));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, set_access(range, 4 * kGranularity));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemUnmap)(range, kGranularity));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemAddressFree)(range, 4 * kGranularity));
  ASSERT_CUDA(driver(cuMemUnmap)(range, 2 * kGranularity));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemAddressFree)(range, kGranularity));
  EXPECT_CUDA(driver(cuMemAddressFree)(range, 4 * kGranularity));
}

TEST_F(DriverVmmTest, HostBlocksAreReachedOverTheLinkAndByTheHostWhereAllowed) {
  const std::size_t before = free_bytes();
  const CUdeviceptr range = reserve(2 * kGranularity);
  const auto device = create();
  const auto host = create(CU_MEM_LOCATION_TYPE_HOST_NUMA);
  EXPECT_EQ(before - kGranularity, free_bytes());
  map(range, device);
  map(range + kGranularity, host);
  ASSERT_CUDA(set_access(range + kGranularity, kGranularity, CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                         CU_MEM_LOCATION_TYPE_HOST_NUMA));
  ASSERT_CUDA(launch(nullptr, "store", range, 3U));
  // One copy over both mappings: a neighbour is enough, whatever backs it.
  ASSERT_CUDA(driver(cuMemcpyDtoD)(range + kGranularity, range, 4));
  ASSERT_CUDA(driver(cuCtxSynchronize)());
  EXPECT_EQ(3U, *reinterpret_cast<std::uint32_t*>(range + kGranularity));
  ASSERT_CUDA(launch(nullptr, "add", range + kGranularity, 1U));
  ASSERT_CUDA(driver(cuCtxSynchronize)());
  EXPECT_EQ(4U, *reinterpret_cast<std::uint32_t*>(range + kGranularity));
  std::vector<char> both(2 * kGranularity);
  EXPECT_CUDA(driver(cuMemcpyDtoH)(both.data(), range, both.size()));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            set_access(range, kGranularity, CU_MEM_ACCESS_FLAGS_PROT_READ, CU_MEM_LOCATION_TYPE_HOST));
  ASSERT_CUDA(driver(cuMemUnmap)(range, 2 * kGranularity));
}

TEST_F(DriverVmmTest, PointerAttributesAreTheDriversView) {
  const CUdeviceptr range = reserve(kGranularity);
  map(range, create());
  const CUdeviceptr plain = allocate(1000);
  CUcontext context = nullptr;
  unsigned type = 0;
  ASSERT_CUDA(driver(cuPointerGetAttribute)(&context, CU_POINTER_ATTRIBUTE_CONTEXT, range + 5));
  EXPECT_EQ(nullptr, context);
  ASSERT_CUDA(driver(cuPointerGetAttribute)(&context, CU_POINTER_ATTRIBUTE_CONTEXT, plain + 5));
  EXPECT_EQ(context_, context);
  ASSERT_CUDA(driver(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, plain));
  EXPECT_EQ(unsigned{CU_MEMORYTYPE_DEVICE}, type);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            driver(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, plain + 1000));
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  ASSERT_CUDA(driver(cuMemGetAddressRange)(&base, &bytes, plain + 999));
  EXPECT_EQ(plain, base);
  EXPECT_EQ(1000U, bytes);
}

TEST_F(DriverVmmTest, PinnedMemoryIsReadWhenTheCopyRunsPageableMemoryAtTheCall) {
  CUstream stream = nullptr;
  ASSERT_CUDA(driver(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
  void* pinned = nullptr;
  ASSERT_CUDA(driver(cuMemHostAlloc)(&pinned, 4, 0));
  auto* early = static_cast<std::uint32_t*>(pinned);
  std::uint32_t pageable = 1;
  *early = 1;
  const CUdeviceptr words = allocate(12);
  ASSERT_CUDA(driver(cuMemsetD32)(words, 0, 3));
  ASSERT_CUDA(driver(cuCtxSynchronize)());
  ASSERT_CUDA(launch(stream, "spin", words));
  ASSERT_CUDA(driver(cuMemcpyHtoDAsync)(words + 4, pinned, 4, stream));
  ASSERT_CUDA(driver(cuMemcpyHtoDAsync)(words + 8, &pageable, 4, stream));
  *early = 2;
  pageable = 2;
  CUstream other = nullptr;
  ASSERT_CUDA(driver(cuStreamCreate)(&other, CU_STREAM_NON_BLOCKING));
  ASSERT_CUDA(launch(other, "store", words, 1U));
  ASSERT_CUDA(driver(cuCtxSynchronize)());
  EXPECT_EQ(2U, read_word(words + 4));
  EXPECT_EQ(1U, read_word(words + 8));
  EXPECT_CUDA(driver(cuMemFreeHost)(pinned));
}

}  // namespace
