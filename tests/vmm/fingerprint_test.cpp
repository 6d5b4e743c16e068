// What was not written since its last copy leaves without another; what was written never does.
#include "vmm/fingerprint.hpp"
#include "tests/vmm/memory_harness.hpp"

namespace tencache::test {
namespace {

vmm::Fingerprint print_of(const std::vector<std::uint64_t>& words, bool backwards = false) {
  const vmm::Fingerprint::Seeds seeds{0x1234567890abcdefu, 42};
  vmm::Fingerprint print;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t at = backwards ? words.size() - 1 - i : i;
    print.add(seeds, at, words[at]);
  }
  return print;
}

TEST(FingerprintTest, DependsOnEveryBitAndEveryPlaceButNotOnTheOrderOfReading) {
  const std::vector<std::uint64_t> words{1, 2, 3, 0, 0, ~0ull};
  EXPECT_EQ(print_of(words), print_of(words, true));
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      std::vector<std::uint64_t> other = words;
      other[i] ^= std::uint64_t{1} << bit;
      EXPECT_NE(print_of(words).first, print_of(other).first);
      EXPECT_NE(print_of(words).second, print_of(other).second);
    }
  }
  EXPECT_NE(print_of(words), print_of({2, 1, 3, 0, 0, ~0ull}));
}

// Two tensors of which HBM holds one.
class UnchangedTest : public testing::TestWithParam<bool> {
 protected:
  UnchangedTest() : machine(GetParam(), 8, 0, true), gpu(machine.fake) {
    stream = machine.fake.make_stream();
    for (CUdeviceptr& tensor : tensors) tensor = machine.allocate(6 * kPage);
  }
  void launch(CUdeviceptr tensor, const std::vector<FakeDriver::Step>& steps) {
    EXPECT_TRUE(machine.launch(stream, {tensor}, steps).ok());
  }
  void read_both(std::uint32_t rounds) {
    for (std::uint32_t round = 0; round < rounds; ++round) {
      for (std::uint32_t i = 0; i < 2; ++i) launch(tensors[i], {expect(tensors[i] + 5 * kPage, i + 1)});
    }
  }

  Machine machine;
  Gpu gpu;
  CUstream stream = nullptr;
  std::array<CUdeviceptr, 2> tensors{};
};

INSTANTIATE_TEST_SUITE_P(Modes, UnchangedTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "detached" : "mapped"; });

TEST_P(UnchangedTest, WhatIsOnlyReadIsCopiedOutOnce) {
  for (std::uint32_t i = 0; i < 2; ++i) launch(tensors[i], {store(tensors[i] + 5 * kPage, i + 1)});
  read_both(3);
  const std::uint64_t out = machine.statistics.bytes_out;
  const std::uint64_t in = machine.statistics.bytes_in;
  read_both(10);
  EXPECT_GT(machine.statistics.bytes_in.load(), in);
  EXPECT_EQ(machine.statistics.bytes_out.load(), out);
  EXPECT_GT(machine.statistics.found_unchanged.load(), 0u);
}

TEST_P(UnchangedTest, WhatIsWrittenEveryTimeKeepsItsBytes) {
  for (std::uint32_t round = 1; round < 20; ++round) {
    for (const CUdeviceptr tensor : tensors) {
      launch(tensor, {expect(tensor + kPage, round - 1), store(tensor + kPage, round)});
    }
  }
}

TEST_P(UnchangedTest, OneWordChangedOnceIsNotLost) {
  for (std::uint32_t i = 0; i < 2; ++i) launch(tensors[i], {store(tensors[i] + 5 * kPage, i + 1)});
  read_both(5);
  launch(tensors[0], {store(tensors[0] + 3 * kPage + 4, 77)});
  read_both(5);
  launch(tensors[0], {expect(tensors[0] + 3 * kPage + 4, 77)});
}

// Reading costs the GPU something, so where it never saves a copy hardly anything is read.
TEST(FingerprintTest, WhereAllIsWrittenEachTimeHardlyAnythingIsRead) {
  Machine machine(false, 8, 0, true, vmm::Settings::Census::kOff);
  const Gpu gpu(machine.fake);
  const CUstream stream = machine.fake.make_stream();
  const std::array tensors{machine.allocate(6 * kPage), machine.allocate(6 * kPage)};
  std::uint32_t written = 0;
  const auto write_all = [&] {
    ++written;
    for (const CUdeviceptr tensor : tensors) {
      std::vector<FakeDriver::Step> steps;
      for (std::uint64_t page = 0; page < 6; ++page) steps.push_back(store(tensor + page * kPage, written));
      ASSERT_TRUE(machine.launch(stream, {tensor}, steps).ok());
    }
  };
  for (int round = 0; round < 20; ++round) write_all();
  const std::size_t read = machine.fake.calls("cuLaunchKernel");
  const std::uint64_t left = machine.statistics.evictions.load();
  for (int round = 0; round < 64; ++round) write_all();
  const std::uint64_t copies = machine.statistics.evictions.load() - left;
  EXPECT_GT(copies, 64u);
  EXPECT_LE(machine.fake.calls("cuLaunchKernel") - read, copies / 8);
}

TEST(FingerprintTest, SwitchedOffEverythingIsCopied) {
  Machine plain(false, 8, 0, true, vmm::Settings::Census::kLearn, false);
  const Gpu its_gpu(plain.fake);
  const CUstream its_stream = plain.fake.make_stream();
  const std::array its{plain.allocate(6 * kPage), plain.allocate(6 * kPage)};
  for (int round = 0; round < 5; ++round) {
    for (const CUdeviceptr tensor : its)
      ASSERT_TRUE(plain.launch(its_stream, {tensor}, {expect(tensor, 0)}).ok());
  }
  EXPECT_EQ(plain.statistics.found_unchanged.load(), 0u);
  EXPECT_GT(plain.statistics.bytes_out.load(), 0u);
}

// Mapped: a kernel writes an extent where it lies on the host; brought in, the extent gets the bytes again
// that the last copy had. The host has others by now.
TEST(FingerprintTest, WhatWasWrittenOnTheHostIsNotTakenForTheCopy) {
  Machine machine(false, 8, 0, true);
  const Gpu gpu(machine.fake);
  const CUstream stream = machine.fake.make_stream();
  const CUdeviceptr tensor = machine.allocate(4 * kPage);
  const CUdeviceptr other = machine.allocate(6 * kPage);
  const CUdeviceptr table = machine.allocate(kPage);
  const auto launch = [&](CUdeviceptr pointer, FakeDriver::Step step) {
    ASSERT_TRUE(machine.launch(stream, {pointer}, {std::move(step)}).ok());
  };
  launch(tensor, store(tensor, 1));
  launch(table, store(table, static_cast<std::uint32_t>(tensor)));  // its address, in two halves
  launch(table, store(table + 4, static_cast<std::uint32_t>(tensor >> 32)));
  launch(other, store(other, 1));    // the tensor leaves
  launch(table, store(tensor, 2));   // it is reached by an address in the table
  launch(tensor, store(tensor, 1));  // comes in
  launch(other, store(other, 1));
  launch(tensor, expect(tensor, 1));
}

}  // namespace
}  // namespace tencache::test
