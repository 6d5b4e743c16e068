// Tests of modules, libraries, functions, and the ways to launch; of pitched, 3-D and unified copies.
#include <cstring>
#include <numeric>
#include <vector>

#include "tests/softgpu/driver_test.hpp"

namespace {

using DriverModuleTest = DriverTest;

constexpr char kLibraryImage[] = "//\nkernel store 8 4\nkernel say\nglobal counter 4\n";

TEST_F(DriverModuleTest, ParametersHaveOffsetsAndSizes) {
  std::size_t offset = 99;
  std::size_t size = 99;
  const CUfunction store = function("store");
  ASSERT_CUDA(driver(cuFuncGetParamInfo)(store, 0, &offset, &size));
  EXPECT_EQ(std::make_pair(std::size_t{0}, std::size_t{8}), std::make_pair(offset, size));
  ASSERT_CUDA(driver(cuFuncGetParamInfo)(store, 1, &offset, nullptr));
  EXPECT_EQ(8U, offset);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuFuncGetParamInfo)(store, 2, &offset, &size));
  CUmodule owner = nullptr;
  ASSERT_CUDA(driver(cuFuncGetModule)(&owner, store));
  EXPECT_EQ(module_, owner);
  CUfunction missing = nullptr;
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, driver(cuModuleGetFunction)(&missing, module_, "missing"));
}

TEST_F(DriverModuleTest, ALaunchTakesItsParametersFromABuffer) {
  struct {
    CUdeviceptr address;
    std::uint32_t value;
  } buffer{allocate(4), 42};
  std::size_t bytes = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  ASSERT_CUDA(driver(cuLaunchKernel)(function("store"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_EQ(42U, read_word(buffer.address));
}

TEST_F(DriverModuleTest, BadShapesAreRefused) {
  const CUfunction say = function("say");
  const auto shape = [&](unsigned grid, unsigned block, unsigned shared) {
    return driver(cuLaunchKernel)(say, grid, 1, 1, block, 1, 1, shared, nullptr, nullptr, nullptr);
  };
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, shape(0, 1, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, shape(1, 1025, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, shape(1, 1, 49153));
  ASSERT_CUDA(driver(cuFuncSetAttribute)(say, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));
  EXPECT_CUDA(shape(1, 1, 49153));
  int blocks = 0;
  ASSERT_CUDA(driver(cuOccupancyMaxActiveBlocksPerMultiprocessor)(&blocks, say, 1024, 0));
  EXPECT_EQ(2, blocks);
  EXPECT_EQ(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
            driver(cuLaunchCooperativeKernel)(say, 33, 1, 1, 1024, 1, 1, 0, nullptr, nullptr));
  EXPECT_CUDA(driver(cuLaunchCooperativeKernel)(say, 32, 1, 1, 1024, 1, 1, 0, nullptr, nullptr));
}

TEST_F(DriverModuleTest, ALibrarysKernelIsLaunchedAsAFunction) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  ASSERT_CUDA(driver(cuLibraryLoadData)(&library, kLibraryImage, nullptr, nullptr, 0, nullptr, nullptr, 0));
  ASSERT_CUDA(driver(cuLibraryGetKernel)(&kernel, library, "store"));
  CUdeviceptr counter = 0;
  std::size_t bytes = 0;
  ASSERT_CUDA(driver(cuLibraryGetGlobal)(&counter, &bytes, library, "counter"));
  EXPECT_EQ(0U, read_word(counter));
  std::uint32_t value = 8;
  void* parameters[] = {&counter, &value};
  auto* const as_function = reinterpret_cast<CUfunction>(kernel);
  ASSERT_CUDA(driver(cuLaunchKernel)(as_function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_EQ(8U, read_word(counter));
  CUfunction loaded = nullptr;
  ASSERT_CUDA(driver(cuKernelGetFunction)(&loaded, kernel));
  const char* name = nullptr;
  ASSERT_CUDA(driver(cuFuncGetName)(&name, loaded));
  EXPECT_STREQ("store", name);
  ASSERT_CUDA(driver(cuLibraryUnload)(library));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE,
            driver(cuLaunchKernel)(as_function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
}

TEST_F(DriverModuleTest, AnUnloadedModuleGivesItsMemoryBack) {
  const std::size_t before = free_bytes();
  function("say");
  EXPECT_GT(before, free_bytes());
  ASSERT_CUDA(driver(cuModuleUnload)(module_));
  EXPECT_EQ(before, free_bytes());
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, driver(cuModuleUnload)(module_));
}

TEST_F(DriverModuleTest, PrintsInOrder) {
  testing::internal::CaptureStdout();
  for (int i = 0; i < 3; ++i) ASSERT_CUDA(launch(nullptr, "say"));
  ASSERT_CUDA(driver(cuCtxSynchronize)());
  EXPECT_EQ("say\nsay\nsay\n", testing::internal::GetCapturedStdout());
}

TEST_F(DriverModuleTest, ABoxIsCopiedOutOfALargerOne) {
  constexpr std::size_t kPitch = 16;
  constexpr std::size_t kRows = 8;
  std::vector<std::uint8_t> all(kPitch * kRows * 4);
  std::iota(all.begin(), all.end(), std::uint8_t{0});
  const CUdeviceptr a = allocate(all.size());
  ASSERT_CUDA(driver(cuMemcpyHtoD)(a, all.data(), all.size()));
  std::vector<std::uint8_t> box(3 * 2 * 2);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = a;
  copy.srcPitch = kPitch;
  copy.srcHeight = kRows;
  copy.srcXInBytes = 5;
  copy.srcY = 6;
  copy.srcZ = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = box.data();
  copy.WidthInBytes = 3;
  copy.Height = 2;
  copy.Depth = 2;
  ASSERT_CUDA(driver(cuMemcpy3D)(&copy));
  std::vector<std::uint8_t> expected;
  for (std::size_t z = 1; z < 3; ++z)
    for (std::size_t y = 6; y < 8; ++y)
      for (std::size_t x = 5; x < 8; ++x) expected.push_back(all[(z * kRows + y) * kPitch + x]);
  EXPECT_EQ(expected, box);
  copy.srcZ = 3;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, driver(cuMemcpy3D)(&copy));
}

TEST_F(DriverModuleTest, UnifiedCopiesFindOutWhatTheirAddressesAre) {
  std::uint32_t from = 5;
  std::uint32_t to = 0;
  const CUdeviceptr a = allocate(4);
  const auto address = [](void* host) { return reinterpret_cast<CUdeviceptr>(host); };
  ASSERT_CUDA(driver(cuMemcpy)(a, address(&from), 4));
  ASSERT_CUDA(driver(cuMemcpy)(address(&to), a, 4));
  EXPECT_EQ(5U, to);
  from = 6;
  ASSERT_CUDA(driver(cuMemcpy)(address(&to), address(&from), 4));
  EXPECT_EQ(6U, to);
}

TEST_F(DriverModuleTest, ManagedMemoryIsReachedByAll) {
  CUdeviceptr a = 0;
  ASSERT_CUDA(driver(cuMemAllocManaged)(&a, 4, CU_MEM_ATTACH_GLOBAL));
  ASSERT_CUDA(launch(nullptr, "store", a, 9U));
  ASSERT_CUDA(driver(cuCtxSynchronize)());
  EXPECT_EQ(9U, *reinterpret_cast<std::uint32_t*>(a));
  unsigned managed = 0;
  ASSERT_CUDA(driver(cuPointerGetAttribute)(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, a));
  EXPECT_EQ(1U, managed);
  EXPECT_CUDA(driver(cuMemFree)(a));
}

}  // namespace
