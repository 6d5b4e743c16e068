// NVIDIA's own runtime, shared or static as this file is linked, on the stub driver under LD_PRELOAD:
// whatever it asks cuGetProcAddress for is ours where the table says so, and the driver's else.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/interpose/under_preload.hpp"

namespace {

const stub::Request* request(unsigned index) {
  static auto* const function = under_preload::of_stub<decltype(&stub_request)>("stub_request");
  return function(index);
}

unsigned request_count() {
  return under_preload::of_stub<decltype(&stub_request_count)>("stub_request_count")();
}

// Makes the runtime find the driver; the stub has no device, so the answer is an error.
unsigned requests_of_runtime() {
  static const unsigned count = [] {
    int devices = 0;
    static_cast<void>(cudaGetDeviceCount(&devices));
    return request_count();
  }();
  return count;
}

TEST(GenuineRuntime, AsksForSomeHundredEntryPointsInBothStreamFlavours) {
  std::set<std::string> names;
  std::set<unsigned long long> flags;
  for (unsigned i = 0; i < requests_of_runtime(); ++i) {
    names.insert(request(i)->base);
    flags.insert(request(i)->flags);
  }
  EXPECT_GT(names.size(), 300u);
  EXPECT_TRUE(names.contains("cuLaunchKernel"));
  EXPECT_TRUE(flags.contains(CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM));
  EXPECT_TRUE(flags.contains(CU_GET_PROC_ADDRESS_DEFAULT) ||
              flags.contains(CU_GET_PROC_ADDRESS_LEGACY_STREAM));
}

TEST(GenuineRuntime, GetsOursWhereTheTableHandlesAndTheDriversElse) {
  auto* const get =
      under_preload::look_up<decltype(&cuGetProcAddress_v2)>(under_preload::driver(), "cuGetProcAddress_v2");
  unsigned ours = 0;
  unsigned drivers = 0;
  const unsigned count = requests_of_runtime();
  for (unsigned i = 0; i < count; ++i) {
    const stub::Request asked = *request(i);
    if (asked.answer == nullptr) continue;
    void* got = nullptr;
    ASSERT_EQ(get(asked.base, &got, asked.version, asked.flags, nullptr), CUDA_SUCCESS);
    const bool passes = asked.answer->passes;
    EXPECT_EQ(under_preload::is_ours(got), !passes)
        << asked.answer->symbol << " for version " << asked.version;
    EXPECT_EQ(got == asked.answer->address, passes) << asked.answer->symbol;
    ++(passes ? drivers : ours);
  }
  EXPECT_GT(ours, 200u);
  EXPECT_GT(drivers, 80u);
}

}  // namespace
