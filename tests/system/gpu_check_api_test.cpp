// gpu-check declares for itself what it uses of the driver API; the toolkit's header has the last word.
#include <cuda.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "tools/gpu_check/driver_api.hpp"

namespace gpu_check {
namespace {

// Same number and sizes of parameters; handles and enumerations are declared alike but not the same types.
template <class Value>
struct Held {
  Value value;
};
template <class Ours, class Theirs>
struct SameCall : std::false_type {};
template <class... Ours, class... Theirs>
struct SameCall<Status (*)(Ours...), CUresult (*)(Theirs...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(Ours) != sizeof...(Theirs))
      return false;
    else
      return ((sizeof(Held<Ours>) == sizeof(Held<Theirs>) &&
               std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>)&&...);
  }();
};

#define GPU_CHECK_SAME_CALL(symbol, parameters) \
  static_assert(SameCall<decltype(DriverApi::symbol), decltype(&::symbol)>::value, #symbol);
GPU_CHECK_DRIVER_FUNCTIONS(GPU_CHECK_SAME_CALL)
#undef GPU_CHECK_SAME_CALL

TEST(GpuCheckApi, StructuresAreLaidOutAsTheHeaderHasThem) {
  EXPECT_EQ(sizeof(AllocationProperties), sizeof(CUmemAllocationProp));
  EXPECT_EQ(offsetof(AllocationProperties, location), offsetof(CUmemAllocationProp, location));
  EXPECT_EQ(offsetof(AllocationProperties, flags), offsetof(CUmemAllocationProp, allocFlags));
  EXPECT_EQ(sizeof(AccessDescription), sizeof(CUmemAccessDesc));
  EXPECT_EQ(offsetof(AccessDescription, flags), offsetof(CUmemAccessDesc, flags));
}

TEST(GpuCheckApi, ConstantsAreTheHeaders) {
  EXPECT_EQ(int{kDevice}, CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(int{kHost}, CU_MEM_LOCATION_TYPE_HOST);
  EXPECT_EQ(int{kHostNuma}, CU_MEM_LOCATION_TYPE_HOST_NUMA);
  EXPECT_EQ(kPinned, CU_MEM_ALLOCATION_TYPE_PINNED);
  EXPECT_EQ(kReadWrite, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  EXPECT_EQ(kGranularityLeast, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  EXPECT_EQ(kGranularityBest, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
  EXPECT_EQ(kNonBlocking, unsigned{CU_STREAM_NON_BLOCKING});
  EXPECT_EQ(kNoTiming, unsigned{CU_EVENT_DISABLE_TIMING});
  EXPECT_EQ(kWaitAtLeast, unsigned{CU_STREAM_WAIT_VALUE_GEQ});
  EXPECT_EQ(kCaptureRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(kMultiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(kCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(kCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(kVirtualMemory, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
  EXPECT_EQ(kHostNumaId, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
}

}  // namespace
}  // namespace gpu_check
