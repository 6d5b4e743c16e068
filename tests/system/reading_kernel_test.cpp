// The kernel that reads memory, on softgpu: its fingerprint is the one that Fingerprint::add makes, whatever
// the size; and its marks are the census's.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tools/softgpu/driver/entry_point.hpp"
#include "vmm/fingerprints.hpp"

namespace tencache::vmm {
namespace {

class ReadingKernelTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(driver.fill([](const char* name) { return softgpu::entry_point(name); }), nullptr);
    ASSERT_EQ(driver.cuInit(0), CUDA_SUCCESS);
    CUcontext context = nullptr;
    ASSERT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuCtxSetCurrent(context), CUDA_SUCCESS);
    Result<ReadingKernel> opened = ReadingKernel::open(driver);
    ASSERT_TRUE(opened.ok()) << opened.status().what();
    kernel.emplace(*opened);
    ASSERT_EQ(driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }
  CUdeviceptr upload(const std::vector<std::uint64_t>& words) const {
    CUdeviceptr address = 0;
    EXPECT_EQ(driver.cuMemAlloc_v2(&address, words.size() * 8), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuMemcpyHtoD_v2(address, words.data(), words.size() * 8), CUDA_SUCCESS);
    return address;
  }
  Fingerprint expected(const std::vector<std::uint64_t>& words) const {
    Fingerprint print;
    for (std::size_t i = 0; i < words.size(); ++i) print.add(kernel->seeds(), i, words[i]);
    return print;
  }

  Driver driver;
  std::optional<ReadingKernel> kernel;
  CUstream stream = nullptr;
};

TEST_F(ReadingKernelTest, TakesTheFingerprintThatTheHostWouldTake) {
  Result<Fingerprints> prints = Fingerprints::open(driver, *kernel);
  ASSERT_TRUE(prints.ok());
  std::mt19937_64 random(1);
  for (const std::size_t count : {1u, 2u, 31u, 32u, 33u, 128u, 1000u, 65536u, 70001u}) {
    std::vector<std::uint64_t> words(count);
    for (std::uint64_t& word : words) word = random();
    Block block;
    block.address = upload(words);
    block.size = Bytes(count * 8);
    for (int again = 0; again < 2; ++again) {  // its sums are zero again after use
      const auto place = prints->enqueue(block, stream);
      ASSERT_TRUE(place);
      ASSERT_EQ(driver.cuStreamSynchronize(stream), CUDA_SUCCESS);
      EXPECT_EQ(prints->take(*place), expected(words)) << count;
    }
  }
}

TEST_F(ReadingKernelTest, ManyAtOnceKeepApart) {
  Result<Fingerprints> prints = Fingerprints::open(driver, *kernel);
  ASSERT_TRUE(prints.ok());
  std::vector<std::pair<Fingerprints::Place, Fingerprint>> taken;
  for (std::uint64_t i = 0;; ++i) {
    const std::vector<std::uint64_t> words(300, i);
    Block block;
    block.address = upload(words);
    block.size = Bytes(words.size() * 8);
    const auto place = prints->enqueue(block, stream);
    if (!place) break;
    taken.emplace_back(*place, expected(words));
  }
  EXPECT_EQ(taken.size(), 64u);
  ASSERT_EQ(driver.cuStreamSynchronize(stream), CUDA_SUCCESS);
  for (const auto& [place, print] : taken) EXPECT_EQ(prints->take(place), print);
}

TEST_F(ReadingKernelTest, MarksTheUnitsThatWordsPointInto) {
  constexpr CUdeviceptr kBase = 0x700000000000;
  constexpr Bytes kUnit(4096);
  const CUdeviceptr words = upload({5, kBase, kBase + 3 * 4096 + 8, kBase + 8 * 4096, kBase - 1});
  const CUdeviceptr map = upload(std::vector<std::uint64_t>(1, 0));
  const ReadingKernel::Search search{kBase, kUnit * 8, kUnit, map};
  ASSERT_EQ(kernel->launch({words, Bytes(40)}, search, {}, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuStreamSynchronize(stream), CUDA_SUCCESS);
  std::array<unsigned char, 8> marks{};
  ASSERT_EQ(driver.cuMemcpyDtoH_v2(marks.data(), map, marks.size()), CUDA_SUCCESS);
  EXPECT_EQ(marks, (std::array<unsigned char, 8>{1, 0, 0, 1, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace tencache::vmm
