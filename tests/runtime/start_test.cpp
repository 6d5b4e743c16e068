// What the runtime asks the device and its options before it manages memory, and what it says.
#include <gtest/gtest.h>

#include "src/base/options.hpp"
#include "src/runtime/runtime.hpp"
#include "tests/base/captured_log.hpp"
#include "tests/vmm/fake_driver.hpp"

namespace tencache::test {
namespace {

using runtime::Runtime;

Options small_options() {
  Options options = default_options();
  options.hbm = MemoryAmount(256_KiB);
  options.host = MemoryAmount(1_MiB);
  return options;
}

// What is said while the first allocation makes the device managed.
std::string said_at_start(const FakeDriver::Limits& limits, const Options& options) {
  FakeDriver fake(limits);
  const CapturedLog log;
  log::set_level(LogLevel::kInfo);
  Runtime* const runtime = runtime::start(fake.driver(), options);
  CUdeviceptr address = 0;
  CUresult result = CUDA_ERROR_UNKNOWN;
  EXPECT_EQ(
      runtime->allocate({runtime::AllocationKind::kSync, 64_KiB, {}, nullptr, nullptr}, &address, &result),
      Runtime::Verdict::kAnswered);
  EXPECT_EQ(result, CUDA_SUCCESS);
  runtime->go_passive();
  return log.text();
}

testing::AssertionResult says(const std::string& text, const std::string& line) {
  if (text.find(line) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "said only: " << text;
}

TEST(StartTest, MappedUnlessAskedForDetached) {
  EXPECT_TRUE(says(said_at_start({}, small_options()), "KiB, mapped\n"));
  Options options = small_options();
  options.detached = true;
  EXPECT_TRUE(says(said_at_start({}, options), "KiB, detached\n"));
}

TEST(StartTest, UnderMpsDetachedIsRefused) {
  Options options = small_options();
  options.detached = true;
  const std::string text = said_at_start({.attributes = {{CU_DEVICE_ATTRIBUTE_MPS_ENABLED, 1}}}, options);
  EXPECT_TRUE(says(text, "tencache: TENCACHE_DETACHED is refused under MPS"));
  EXPECT_TRUE(says(text, "KiB, mapped\n"));
}

TEST(StartTest, ADeviceThatEndsLongKernelsRunsNoneFromTheHost) {
  const FakeDriver::Limits limits{.attributes = {{CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, 1}}};
  EXPECT_TRUE(says(said_at_start(limits, small_options()), "never run from the host"));
}

TEST(StartTest, AnUnknownPolicyKeepsTheDefault) {
  Options options = small_options();
  ASSERT_TRUE(options.policy.assign("clairvoyance"));
  const std::string text = said_at_start({}, options);
  const std::string kept(default_options().policy.view());
  EXPECT_TRUE(says(text, "TENCACHE_POLICY=clairvoyance is no policy's name; " + kept + " is used instead"));
}

}  // namespace
}  // namespace tencache::test
