// The runtime's face over a fake driver: what a program is told, and copies that HBM cannot take whole.
#include "src/runtime/runtime.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "src/base/options.hpp"
#include "tests/vmm/fake_driver.hpp"

namespace tencache::test {
namespace {

using runtime::AccessKind;
using runtime::AllocationKind;
using runtime::Rows;
using runtime::Runtime;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kHbm = 64 * kPage;

class RuntimeTest : public testing::TestWithParam<bool> {
 protected:
  RuntimeTest()
      : fake({.hbm = 4 * kHbm}), gpu_([this] {
          while (!stop_) {
            fake.run_everything();
            std::this_thread::yield();
          }
        }) {
    Options options = default_options();
    options.hbm = MemoryAmount(Bytes(kHbm));
    options.host = MemoryAmount(Bytes(4 * kHbm));
    options.detached = GetParam();
    runtime = runtime::start(fake.driver(), options);
  }
  ~RuntimeTest() override {
    runtime->go_passive();
    stop_ = true;
    gpu_.join();
    EXPECT_EQ(fake.faults(), std::vector<std::string>{});
  }

  CUdeviceptr allocate(std::uint64_t size) {
    CUdeviceptr address = 0;
    CUresult result = CUDA_ERROR_UNKNOWN;
    EXPECT_EQ(
        runtime->allocate({AllocationKind::kSync, Bytes(size), {}, nullptr, nullptr}, &address, &result),
        Runtime::Verdict::kAnswered);
    return result == CUDA_SUCCESS ? address : 0;
  }
  CUresult free(CUdeviceptr address) {
    CUresult result = CUDA_ERROR_UNKNOWN;
    EXPECT_EQ(runtime->free_sync(address, &result), Runtime::Verdict::kAnswered);
    return result;
  }
  // As the door copies from or to the host: the whole call, or in parts.
  class HostCopy final : public runtime::PartIssuer {
   public:
    HostCopy(RuntimeTest& test, std::vector<unsigned char>& host, bool to_device)
        : test_(test), host_(host.data()), size_(host.size()), to_device_(to_device) {}
    [[nodiscard]] Rows rows_at(std::uint64_t offset) const noexcept override {
      return offset == size_ ? Rows{} : Rows{size_ - offset, 1, offset, offset, 0, 0};
    }
    CUresult issue(std::uint64_t offset, const Rows& rows, CUdeviceptr to,
                   CUdeviceptr from) const noexcept override {
      const Driver& driver = test_.fake.driver();
      return to_device_ ? driver.cuMemcpyHtoDAsync_v2(to, host_ + offset, rows.width, test_.stream)
                        : driver.cuMemcpyDtoHAsync_v2(host_ + offset, from, rows.width, test_.stream);
    }

   private:
    RuntimeTest& test_;
    unsigned char* host_;
    std::uint64_t size_;
    bool to_device_;
  };
  CUresult copy(CUdeviceptr device, std::vector<unsigned char>& host, bool to_device) {
    const HostCopy parts(*this, host, to_device);
    runtime::Access access{};
    access.kind = AccessKind::kCopy;
    access.stream = {stream};
    const runtime::Range range{device, Bytes(host.size())};
    if (to_device) access.destination = range;
    if (!to_device) access.source = range;
    access.parts = &parts;
    const runtime::Admission admission = runtime->before(access);
    if (!admission.forward) return admission.result;
    const CUresult result = parts.issue(0, parts.rows_at(0), device, device);
    runtime->after(access, admission.ticket, result);
    return result;
  }

  FakeDriver fake;
  CUstream stream = fake.make_stream();
  Runtime* runtime = nullptr;

 private:
  std::atomic<bool> stop_{false};
  std::thread gpu_;
};

INSTANTIATE_TEST_SUITE_P(Modes, RuntimeTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "detached" : "mapped"; });

TEST_P(RuntimeTest, FreesAnswerWithTheDriversCodes) {
  const CUdeviceptr a = allocate(8 * kPage);
  EXPECT_EQ(free(a + kPage), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(free(a), CUDA_SUCCESS);
  EXPECT_EQ(free(a), CUDA_ERROR_INVALID_VALUE);
  CUresult result = CUDA_SUCCESS;
  EXPECT_EQ(runtime->free_sync(0x1234, &result), Runtime::Verdict::kNotOurs);
  EXPECT_EQ(allocate(1ull << 50), 0u);
}

TEST_P(RuntimeTest, APointerLooksLikeCudaMallocs) {
  const CUdeviceptr a = allocate(3 * kPage + 100);
  CUdeviceptr base = 0;
  std::size_t size = 0;
  ASSERT_TRUE(runtime->address_range(a + 500, &base, &size));
  EXPECT_EQ(base, a);
  EXPECT_EQ(size, 3 * kPage + 100);
  unsigned type = 0;
  CUresult result = CUDA_ERROR_UNKNOWN;
  ASSERT_TRUE(runtime->pointer_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a + 8, &result));
  EXPECT_EQ(result, CUDA_SUCCESS);
  EXPECT_EQ(type, static_cast<unsigned>(CU_MEMORYTYPE_DEVICE));
  ASSERT_TRUE(runtime->pointer_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a + 4 * kPage, &result));
  EXPECT_EQ(result, CUDA_ERROR_INVALID_VALUE);
}

TEST_P(RuntimeTest, WhatIsFreeCanBeAllocated) {
  std::size_t free_bytes = 0;
  std::size_t total = 0;
  ASSERT_TRUE(runtime->memory_info(&free_bytes, &total));
  EXPECT_EQ(total, 4 * kHbm);
  const CUdeviceptr a = allocate(free_bytes / 10 * 9);
  EXPECT_NE(a, 0u);
  std::size_t left = 0;
  ASSERT_TRUE(runtime->memory_info(&left, nullptr));
  EXPECT_LT(left, free_bytes);
}

TEST_P(RuntimeTest, ACopyLargerThanHbmArrivesWhole) {
  const CUdeviceptr big = allocate(2 * kHbm);
  ASSERT_NE(big, 0u);
  std::vector<unsigned char> sent(2 * kHbm - 77);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<unsigned char>(i * 7 + i / 251);
  ASSERT_EQ(copy(big + 5, sent, true), CUDA_SUCCESS);
  std::vector<unsigned char> received(sent.size());
  ASSERT_EQ(copy(big + 5, received, false), CUDA_SUCCESS);
  fake.run_everything();
  EXPECT_EQ(std::memcmp(sent.data(), received.data(), sent.size()), 0);
}

// Rows of a plane of `pitch` that go to the plane's other half, as 2-D copies do.
class PlaneCopy final : public runtime::PartIssuer {
 public:
  static constexpr std::uint64_t kWidth = 2 * kPage + 24, kPitch = 3 * kPage, kHeight = 40;
  PlaneCopy(FakeDriver& fake, CUstream stream) : fake_(fake), stream_(stream) {}
  [[nodiscard]] Rows rows_at(std::uint64_t offset) const noexcept override {
    const std::uint64_t x = offset % kWidth;
    const std::uint64_t y = offset / kWidth;
    const std::uint64_t at = y * kPitch + x;
    return y == kHeight ? Rows{} : Rows{kWidth - x, x == 0 ? kHeight - y : 1, at, at, kPitch, kPitch};
  }
  CUresult issue(std::uint64_t, const Rows& rows, CUdeviceptr to, CUdeviceptr from) const noexcept override {
    for (std::uint64_t y = 0; y < rows.count; ++y) {
      const CUresult copied = fake_.driver().cuMemcpyDtoDAsync_v2(
          to + y * rows.destination_pitch, from + y * rows.source_pitch, rows.width, stream_);
      if (copied != CUDA_SUCCESS) return copied;
    }
    return CUDA_SUCCESS;
  }

 private:
  FakeDriver& fake_;
  CUstream stream_;
};

TEST_P(RuntimeTest, APlaneLargerThanHbmIsCopiedByRows) {
  constexpr std::uint64_t kPlane = PlaneCopy::kPitch * PlaneCopy::kHeight;
  static_assert(2 * kPlane > kHbm);
  const CUdeviceptr from = allocate(kPlane);
  const CUdeviceptr to = allocate(kPlane);
  std::vector<unsigned char> sent(kPlane);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<unsigned char>(i * 7 + i / 251);
  ASSERT_EQ(copy(from, sent, true), CUDA_SUCCESS);
  ASSERT_EQ(copy(to, sent, true), CUDA_SUCCESS);
  const PlaneCopy parts(fake, stream);
  runtime::Access access{};
  access.kind = AccessKind::kCopy;
  access.stream = {stream};
  const Bytes span((PlaneCopy::kHeight - 1) * PlaneCopy::kPitch + PlaneCopy::kWidth);
  access.destination = {to + 8, span};
  access.source = {from, span};
  access.parts = &parts;
  const runtime::Admission admission = runtime->before(access);
  EXPECT_FALSE(admission.forward);
  ASSERT_EQ(admission.result, CUDA_SUCCESS);
  std::vector<unsigned char> expected = sent;
  for (std::uint64_t y = 0; y < PlaneCopy::kHeight; ++y) {
    std::memcpy(&expected[y * PlaneCopy::kPitch + 8], &sent[y * PlaneCopy::kPitch], PlaneCopy::kWidth);
  }
  std::vector<unsigned char> received(kPlane);
  ASSERT_EQ(copy(to, received, false), CUDA_SUCCESS);
  fake.run_everything();
  EXPECT_EQ(expected, received);
}

TEST(RowsTest, AsManyAsTheRoomOfBothSidesAllows) {
  const Rows rows{10, 8, 0, 0, 16, 100};
  EXPECT_EQ(rows.within(Bytes(1000), Bytes(1000)).count, 8u);
  EXPECT_EQ(rows.within(Bytes(58), Bytes(1000)).count, 4u);
  EXPECT_EQ(rows.within(Bytes(57), Bytes(1000)).count, 3u);
  EXPECT_EQ(rows.within(Bytes(1000), Bytes(209)).count, 2u);
  EXPECT_EQ(rows.within(Bytes(1000), Bytes(10)).count, 1u);
  const Rows piece = rows.within(Bytes(1000), Bytes(9));
  EXPECT_EQ(piece.count, 1u);
  EXPECT_EQ(piece.size(), Bytes(9));
  EXPECT_EQ(rows.span(rows.source_pitch), Bytes(710));
}

// Whatever the driver refuses us, and when: what was freed is free again, to be had whole, and bytes are
// right or the program is told.
TEST_P(RuntimeTest, AfterAFailedCallOfOursNothingStaysCharged) {
  allocate(kPage);  // opens the device
  std::size_t before = 0;
  ASSERT_TRUE(runtime->memory_info(&before, nullptr));
  for (const char* const name :
       {"cuMemCreate", "cuMemMap", "cuMemSetAccess", "cuEventCreate", "cuEventRecord", "cuMemcpyHtoDAsync_v2",
        "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoDAsync_v2"}) {
    for (int round = 0; round < 3; ++round) {
      std::vector<CUdeviceptr> memory;
      for (int i = 0; i < 3; ++i) {
        if (i == round) fake.fail_next(name, CUDA_ERROR_OUT_OF_MEMORY);
        memory.push_back(allocate(kHbm / 2));
        std::vector<unsigned char> written(kHbm / 2, static_cast<unsigned char>(round * 3 + i + 1));
        std::vector<unsigned char> read(kHbm / 2);
        const bool told = copy(memory.back(), written, true) != CUDA_SUCCESS ||
                          copy(memory.back(), read, false) != CUDA_SUCCESS;
        fake.run_everything();
        EXPECT_TRUE(told || read == written) << name << " in round " << round;
      }
      std::erase(memory, 0);  // refused
      for (const CUdeviceptr each : memory) EXPECT_EQ(free(each), CUDA_SUCCESS) << name;
      std::size_t after = 0;
      ASSERT_TRUE(runtime->memory_info(&after, nullptr));
      EXPECT_EQ(after, before) << name << " in round " << round;
    }
  }
}

TEST_P(RuntimeTest, ACopyOnFreedMemoryIsRefused) {
  const CUdeviceptr a = allocate(8 * kPage);
  std::vector<unsigned char> host(kPage);
  ASSERT_EQ(copy(a, host, true), CUDA_SUCCESS);
  ASSERT_EQ(free(a), CUDA_SUCCESS);
  EXPECT_EQ(copy(a, host, true), CUDA_ERROR_INVALID_VALUE);
}

// Another thread opens the device while a stream is about to enter a capture. Its markers are not held then
// for good, or what runs on the stream would never be seen to end and nothing could leave.
TEST_P(RuntimeTest, ADeviceOpenedWhileACaptureBeginsIsMarkedAfterwards) {
  runtime->capture_begins({stream});
  const CUdeviceptr a = allocate(kHbm / 2);
  runtime->capture_has_begun();
  const std::array pointers{a};
  runtime::Access kernel{};
  kernel.kind = AccessKind::kLaunch;
  kernel.stream = {stream};
  kernel.pointers = pointers;
  const runtime::Admission admission = runtime->before(kernel);
  ASSERT_TRUE(admission.forward);
  fake.launch(stream, {[a](FakeDriver& gpu) { gpu.store(a, 5); }});
  runtime->after(kernel, admission.ticket, CUDA_SUCCESS);
  const CUdeviceptr b = allocate(kHbm);
  std::vector<unsigned char> sent(kPage, 3);
  for (std::uint64_t at = 0; at < kHbm; at += kPage) ASSERT_EQ(copy(b + at, sent, true), CUDA_SUCCESS);
  std::vector<unsigned char> received(4);
  ASSERT_EQ(copy(a, received, false), CUDA_SUCCESS);
  fake.run_everything();
  EXPECT_EQ(received, (std::vector<unsigned char>{5, 0, 0, 0}));
}

// Rule 4 for copies: HBM is full of what a kernel holds that spins on what the copy brings.
TEST(RuntimeProgressTest, ACopyThatASpinningKernelWaitsFor) {
  FakeDriver fake({.hbm = 4 * kHbm});
  const CUstream first = fake.make_stream();
  const CUstream second = fake.make_stream();
  std::atomic<bool> stop{false};
  std::thread gpu([&] {
    while (!stop) {
      fake.run_everything();
      std::this_thread::yield();
    }
  });
  Options options = default_options();
  options.hbm = MemoryAmount(Bytes(kHbm));
  options.host = MemoryAmount(Bytes(4 * kHbm));
  Runtime* runtime = runtime::start(fake.driver(), options);
  CUdeviceptr room = 0;
  CUdeviceptr flag = 0;
  CUresult result = CUDA_ERROR_UNKNOWN;
  runtime->allocate({AllocationKind::kSync, Bytes(kHbm), {}, nullptr, nullptr}, &room, &result);
  runtime->allocate({AllocationKind::kSync, Bytes(4 * kPage), {}, nullptr, nullptr}, &flag, &result);
  const std::array pointers{room};
  runtime::Access kernel{};
  kernel.kind = AccessKind::kLaunch;
  kernel.stream = {first};
  kernel.pointers = pointers;
  const runtime::Admission admission = runtime->before(kernel);
  ASSERT_TRUE(admission.forward);
  std::atomic<bool> arrived{false};
  fake.launch_waiting(first, [&](FakeDriver&) { return arrived.load(); });
  runtime->after(kernel, admission.ticket, CUDA_SUCCESS);

  struct Parts final : runtime::PartIssuer {
    [[nodiscard]] Rows rows_at(std::uint64_t offset) const noexcept override {
      return offset == 4 * kPage ? Rows{} : Rows{4 * kPage - offset, 1, offset, 0, 0, 0};
    }
    CUresult issue(std::uint64_t, const Rows& rows, CUdeviceptr to, CUdeviceptr) const noexcept override {
      return fake->driver().cuMemsetD8Async(to, 9, rows.width, stream);
    }
    FakeDriver* fake;
    CUstream stream;
  } parts;
  parts.fake = &fake;
  parts.stream = second;
  runtime::Access copy{};
  copy.kind = AccessKind::kMemset;
  copy.stream = {second};
  copy.destination = {flag, Bytes(4 * kPage)};
  copy.parts = &parts;
  const runtime::Admission answer = runtime->before(copy);
  EXPECT_FALSE(answer.forward);  // it was issued where the bytes lie, on the host
  EXPECT_EQ(answer.result, CUDA_SUCCESS);
  fake.run_all(second);
  EXPECT_EQ(fake.load(flag), 0x09090909u);
  arrived = true;
  runtime->go_passive();
  stop = true;
  gpu.join();
  EXPECT_EQ(fake.faults(), std::vector<std::string>{});
}

}  // namespace
}  // namespace tencache::test
