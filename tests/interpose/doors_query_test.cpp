// Questions about memory, and what a program asks of it and of its context: answered by the runtime or by the
// driver.
#include "tests/interpose/doors_fixture.hpp"

namespace {

using doors_test::calls;
using doors_test::kArena;
using doors_test::the_runtime;
using Doors = doors_test::DoorsTest;

std::vector<unsigned> flags_set;
CUresult set_flags(unsigned flags) {
  flags_set.push_back(flags);
  return CUDA_SUCCESS;
}
CUresult set_primary_flags(CUdevice, unsigned flags) { return set_flags(flags); }
const bool replaced = [] {
  doors_test::replace("cuCtxSetFlags", reinterpret_cast<void*>(&set_flags));
  doors_test::replace("cuDevicePrimaryCtxSetFlags_v2", reinterpret_cast<void*>(&set_primary_flags));
  return true;
}();

TEST_F(Doors, QueriesAreAnsweredByTheRuntimeOrTheDriver) {
  std::size_t free_bytes = 0;
  EXPECT_EQ(DOOR(cuMemGetInfo_v2)(&free_bytes, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(free_bytes, 100u);
  the_runtime().answers_queries = false;
  const unsigned before = calls("cuMemGetInfo_v2");
  EXPECT_EQ(DOOR(cuMemGetInfo_v2)(nullptr, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(calls("cuMemGetInfo_v2"), before + 1);
  const unsigned totals = calls("cuDeviceTotalMem_v2");
  EXPECT_EQ(DOOR(cuDeviceTotalMem_v2)(&free_bytes, 0), CUDA_SUCCESS);
  EXPECT_EQ(calls("cuDeviceTotalMem_v2"), totals + 1);
  const unsigned ranges = calls("cuMemGetAddressRange_v2");
  EXPECT_EQ(DOOR(cuMemGetAddressRange_v2)(nullptr, nullptr, kArena), CUDA_SUCCESS);
  EXPECT_EQ(calls("cuMemGetAddressRange_v2"), ranges);
}

TEST_F(Doors, PointerAttributesOfOursInBothForms) {
  unsigned value = 0;
  unsigned other = 0;
  EXPECT_EQ(DOOR(cuPointerGetAttribute)(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, kArena), CUDA_SUCCESS);
  EXPECT_EQ(value, 42u);
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
  void* data[] = {&value, &other};
  value = 0;
  EXPECT_EQ(DOOR(cuPointerGetAttributes)(2, attributes, data, kArena), CUDA_SUCCESS);
  EXPECT_EQ(value, 42u);
  EXPECT_EQ(other, 42u);
  value = 0;
  EXPECT_EQ(DOOR(cuPointerGetAttributes)(2, attributes, data, 0x1000), CUDA_SUCCESS);
  EXPECT_EQ(value, 0u);
}

TEST_F(Doors, AnAttributeThatOursHasNotIsNoErrorAmongSeveral) {
  unsigned value = 0;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_HOST_POINTER, CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
  void* data[] = {&value, &value};
  the_runtime().attribute_result = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ(DOOR(cuPointerGetAttribute)(&value, CU_POINTER_ATTRIBUTE_HOST_POINTER, kArena),
            CUDA_ERROR_INVALID_VALUE);
  const unsigned asked = calls("cuPointerGetAttributes");
  EXPECT_EQ(DOOR(cuPointerGetAttributes)(2, attributes, data, kArena), CUDA_SUCCESS);
  EXPECT_EQ(calls("cuPointerGetAttributes"), asked + 3);  // once for all, then for what each has by default
  the_runtime().attribute_result = CUDA_SUCCESS;
}

TEST_F(Doors, AnAttributeOfOursIsSetByTheRuntime) {
  const unsigned on = 1;
  const unsigned before = calls("cuPointerSetAttribute");
  the_runtime().attribute_result = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ(DOOR(cuPointerSetAttribute)(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, kArena),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(calls("cuPointerSetAttribute"), before);
  EXPECT_EQ(DOOR(cuPointerSetAttribute)(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 0x1000), CUDA_SUCCESS);
  EXPECT_EQ(calls("cuPointerSetAttribute"), before + 1);
  the_runtime().attribute_result = CUDA_SUCCESS;
}

TEST_F(Doors, FlagsThatAContextHasToKeepStayBesideTheProgramsOwn) {
  EXPECT_EQ(DOOR(cuCtxSetFlags)(CU_CTX_SCHED_YIELD), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuDevicePrimaryCtxSetFlags_v2)(0, CU_CTX_SCHED_YIELD), CUDA_SUCCESS);
  ASSERT_EQ(flags_set, (std::vector<unsigned>{CU_CTX_SCHED_YIELD, CU_CTX_SCHED_YIELD}));
  the_runtime().kept_flags = CU_CTX_SYNC_MEMOPS;
  EXPECT_EQ(DOOR(cuCtxSetFlags)(CU_CTX_SCHED_SPIN), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuDevicePrimaryCtxSetFlags_v2)(0, 0), CUDA_SUCCESS);
  ASSERT_EQ(flags_set.size(), 4u);
  EXPECT_EQ(flags_set[2], static_cast<unsigned>(CU_CTX_SCHED_SPIN | CU_CTX_SYNC_MEMOPS));
  EXPECT_EQ(flags_set[3], static_cast<unsigned>(CU_CTX_SYNC_MEMOPS));
  the_runtime().kept_flags = 0;
}

}  // namespace
