// Under LD_PRELOAD with TENCACHE=off: no symbol is swapped, every call is the driver's.
#include <gtest/gtest.h>

#include "tests/interpose/under_preload.hpp"

namespace {

TEST(Inert, NothingIsSubstituted) {
  void* const handle = under_preload::driver();
  auto* const get = under_preload::look_up<decltype(&cuGetProcAddress_v2)>(handle, "cuGetProcAddress_v2");
  auto* const forms = under_preload::of_stub<decltype(&stub_forms)>("stub_forms")();
  for (unsigned i = 0; i < stub::kFormCount; ++i) {
    void* got = nullptr;
    if (get(forms[i].base, &got, 13000, 0, nullptr) != CUDA_SUCCESS) continue;
    ASSERT_TRUE(under_preload::is_stubs(got)) << forms[i].base;
  }
  EXPECT_TRUE(under_preload::is_stubs(dlsym(under_preload::stub_handle(), "cuMemAlloc_v2")));
}

TEST(Inert, CallsGoToTheDriver) {
  auto* const init = under_preload::look_up<decltype(&cuInit)>(under_preload::driver(), "cuInit");
  auto* const calls = under_preload::of_stub<decltype(&stub_calls)>("stub_calls");
  const unsigned before = calls("cuInit");
  EXPECT_EQ(init(0), CUDA_SUCCESS);
  EXPECT_EQ(calls("cuInit"), before + 1);
}

}  // namespace
