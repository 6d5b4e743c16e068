// Launches: which of the parameters' words are told as pointers, and when a launch is opaque.
#include <array>
#include <cstring>

#include "interpose/parameters.hpp"
#include "tests/interpose/doors_fixture.hpp"

namespace {

using doors_test::kArena;
using doors_test::kStream;
using doors_test::Seen;
using doors_test::the_runtime;
using Doors = doors_test::DoorsTest;

struct Parameter {
  std::size_t offset;
  std::size_t size;
};
// What the driver says of each function's parameters.
std::map<const void*, std::vector<Parameter>> functions;
std::map<const void*, std::vector<Parameter>> kernels;
unsigned questions = 0;

CUresult answer(const std::map<const void*, std::vector<Parameter>>& all, const void* handle,
                std::size_t index, std::size_t* offset, std::size_t* size) {
  ++questions;
  const auto found = all.find(handle);
  if (found == all.end()) return CUDA_ERROR_INVALID_HANDLE;
  if (index >= found->second.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = found->second[index].offset;
  *size = found->second[index].size;
  return CUDA_SUCCESS;
}
CUresult function_parameter(CUfunction function, std::size_t index, std::size_t* offset, std::size_t* size) {
  return answer(functions, function, index, offset, size);
}
CUresult kernel_parameter(CUkernel kernel, std::size_t index, std::size_t* offset, std::size_t* size) {
  return answer(kernels, kernel, index, offset, size);
}
const bool replaced = [] {
  doors_test::replace("cuFuncGetParamInfo", reinterpret_cast<void*>(&function_parameter));
  doors_test::replace("cuKernelGetParamInfo", reinterpret_cast<void*>(&kernel_parameter));
  return true;
}();

CUfunction next_function(const std::vector<Parameter>& parameters) {
  static std::uintptr_t handle = 0x10000;
  handle += 16;
  functions[reinterpret_cast<void*>(handle)] = parameters;
  return reinterpret_cast<CUfunction>(handle);
}

const Seen& launch(CUfunction function, void** parameters, void** extra = nullptr) {
  EXPECT_EQ(DOOR(cuLaunchKernel)(function, 2, 1, 1, 32, 1, 1, 0, kStream, parameters, extra), CUDA_SUCCESS);
  return the_runtime().seen.back();
}

using Pointers = std::vector<CUdeviceptr>;

TEST_F(Doors, PointersAmongTheParametersAreTold) {
  const CUfunction function = next_function({{0, 8}, {8, 4}, {16, 8}, {24, 8}});
  CUdeviceptr ours = kArena + 16;
  int number = 5;
  CUdeviceptr foreign = 0x1000;
  CUdeviceptr last = kArena + doors_test::kArenaSize - 1;
  std::array<void*, 4> parameters{&ours, &number, &foreign, &last};
  const Seen& seen = launch(function, parameters.data());
  EXPECT_EQ(seen.pointers, (Pointers{ours, last}));
  EXPECT_EQ(seen.access.function, function);
  EXPECT_EQ(seen.access.stream.handle, kStream);
  EXPECT_FALSE(seen.access.opaque);
}

struct LightLaunch {
  CUfunction function = next_function({{0, 8}});
  CUdeviceptr pointer = kArena;
  CUresult operator()() {
    std::array<void*, 1> parameters{&pointer};
    return DOOR(cuLaunchKernel)(function, 1, 1, 1, 32, 1, 1, 0, kStream, parameters.data(), nullptr);
  }
};

TEST_F(Doors, WhileEverythingIsInHbmALaunchIsNotDescribed) {
  the_runtime().lets_in_light = true;
  EXPECT_EQ(LightLaunch()(), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().entered_light, 1u);
  EXPECT_EQ(the_runtime().left_light_calls, 1u);
  EXPECT_TRUE(the_runtime().seen.empty());
}

TEST_F(Doors, ALightLaunchThatRunsOutOfMemoryLeavesBeforeRoomIsMade) {
  the_runtime().lets_in_light = true;
  the_runtime().can_make_room = true;
  stub_set_result("cuLaunchKernel", CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(LightLaunch()(), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(the_runtime().inside_at_room, 0u);
  EXPECT_EQ(the_runtime().left_light_calls, 1u);
  EXPECT_EQ(the_runtime().seen.size(), 1u);  // the second time it is described and waits for its memory
}

TEST_F(Doors, AnOpaqueLaunchIsNeverLight) {
  the_runtime().lets_in_light = true;
  EXPECT_EQ(DOOR(cuLaunchKernel)(next_function({{0, 8}}), 1, 1, 1, 32, 1, 1, 0, kStream, nullptr, nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().entered_light, 0u);
  EXPECT_TRUE(the_runtime().seen.back().access.opaque);
}

TEST_F(Doors, TheArenasEndsAreNotPassed) {
  const CUfunction function = next_function({{0, 8}, {8, 8}});
  CUdeviceptr below = kArena - 1;
  CUdeviceptr behind = kArena + doors_test::kArenaSize;
  std::array<void*, 2> parameters{&below, &behind};
  EXPECT_TRUE(launch(function, parameters.data()).pointers.empty());
}

TEST_F(Doors, PointersInStructsAreFoundOnTheFourByteGridToBeginWith) {
  struct __attribute__((packed)) Packed {
    std::uint32_t head;
    CUdeviceptr pointer;
    std::uint32_t tail;
  };
  const CUfunction function = next_function({{0, sizeof(Packed)}});
  Packed packed{1, kArena + 4, 2};
  std::array<void*, 1> parameters{&packed};
  for (unsigned i = 0; i < 3 * tencache::doors::kCarefulLaunches; ++i) {
    ASSERT_EQ(launch(function, parameters.data()).pointers, Pointers{kArena + 4}) << i;
  }
}

TEST_F(Doors, LaterLaunchesReadOnTheEightByteGrid) {
  const CUfunction function = next_function({{0, 16}});
  std::array<std::uint32_t, 4> words{};
  std::array<void*, 1> parameters{words.data()};
  for (unsigned i = 0; i < tencache::doors::kCarefulLaunches; ++i) launch(function, parameters.data());
  const CUdeviceptr odd = kArena + 8;
  std::memcpy(&words[1], &odd, sizeof(odd));
  EXPECT_TRUE(launch(function, parameters.data()).pointers.empty());
  std::memcpy(words.data(), &odd, sizeof(odd));
  EXPECT_EQ(launch(function, parameters.data()).pointers, Pointers{odd});
}

TEST_F(Doors, TheParameterBufferIsReadAsWell) {
  const CUfunction function = next_function({{0, 8}, {8, 8}});
  std::array<CUdeviceptr, 2> buffer{kArena, kArena + 100};
  std::size_t size = sizeof(buffer);
  std::array<void*, 5> extra{CU_LAUNCH_PARAM_BUFFER_POINTER, buffer.data(), CU_LAUNCH_PARAM_BUFFER_SIZE,
                             &size, CU_LAUNCH_PARAM_END};
  EXPECT_EQ(launch(function, nullptr, extra.data()).pointers, (Pointers{kArena, kArena + 100}));
  std::array<void*, 1> empty{CU_LAUNCH_PARAM_END};
  EXPECT_TRUE(launch(function, nullptr, empty.data()).access.opaque);
}

TEST_F(Doors, AFunctionIsAskedAboutOnce) {
  const CUfunction function = next_function({{0, 8}});
  CUdeviceptr pointer = kArena;
  std::array<void*, 1> parameters{&pointer};
  launch(function, parameters.data());
  const unsigned before = questions;
  launch(function, parameters.data());
  EXPECT_EQ(questions, before);
}

TEST_F(Doors, AReusedHandleIsAskedAboutAgainAfterAnUnload) {
  const CUfunction function = next_function({{0, 8}});
  CUdeviceptr first = kArena;
  CUdeviceptr second = kArena + 8;
  std::array<void*, 2> parameters{&first, &second};
  EXPECT_EQ(launch(function, parameters.data()).pointers, Pointers{first});
  EXPECT_EQ(DOOR(cuModuleUnload)(nullptr), CUDA_SUCCESS);
  functions[function] = {{0, 8}, {8, 8}};
  EXPECT_EQ(launch(function, parameters.data()).pointers, (Pointers{first, second}));
  EXPECT_EQ(DOOR(cuLibraryUnload)(nullptr), CUDA_SUCCESS);
  functions[function] = {{0, 4}};
  EXPECT_TRUE(launch(function, parameters.data()).pointers.empty());
}

TEST_F(Doors, AKernelHandleInAFunctionsPlace) {
  const auto kernel = reinterpret_cast<CUfunction>(0x90000);
  kernels[kernel] = {{0, 8}};
  CUdeviceptr pointer = kArena;
  std::array<void*, 1> parameters{&pointer};
  const Seen& seen = launch(kernel, parameters.data());
  EXPECT_EQ(seen.pointers, Pointers{kArena});
  EXPECT_FALSE(seen.access.opaque);
}

TEST_F(Doors, AFunctionWithoutParametersIsNotOpaque) {
  const Seen& seen = launch(next_function({}), nullptr);
  EXPECT_FALSE(seen.access.opaque);
  EXPECT_TRUE(seen.pointers.empty());
}

TEST_F(Doors, AFunctionThatTheDriverDoesNotExplainIsOpaque) {
  CUdeviceptr pointer = kArena;
  std::array<void*, 1> parameters{&pointer};
  EXPECT_TRUE(launch(reinterpret_cast<CUfunction>(0xA0000), parameters.data()).access.opaque);
}

TEST_F(Doors, MorePointersThanFitMakeALaunchOpaque) {
  constexpr std::size_t kCount = tencache::doors::kMostPointers + 1;
  std::array<CUdeviceptr, kCount> many;
  many.fill(kArena);
  std::array<void*, 1> parameters{many.data()};
  const Seen& full = launch(next_function({{0, sizeof(many) - 8}}), parameters.data());
  EXPECT_FALSE(full.access.opaque);
  EXPECT_EQ(full.pointers.size(), kCount - 1);
  const Seen& overfull = launch(next_function({{0, sizeof(many)}}), parameters.data());
  EXPECT_TRUE(overfull.access.opaque);
  EXPECT_TRUE(overfull.pointers.empty());
}

TEST_F(Doors, EveryWayToLaunchIsTold) {
  const CUfunction function = next_function({{0, 8}});
  CUdeviceptr pointer = kArena;
  std::array<void*, 1> parameters{&pointer};
  DOOR(cuLaunchKernel_ptsz)(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters.data(), nullptr);
  EXPECT_EQ(the_runtime().seen.back().access.stream.handle, CU_STREAM_PER_THREAD);
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.hStream = kStream;
  DOOR(cuLaunchKernelEx)(&config, function, parameters.data(), nullptr);
  EXPECT_EQ(the_runtime().seen.back().access.stream.handle, kStream);
  EXPECT_EQ(the_runtime().seen.back().pointers, Pointers{kArena});
  config.hStream = nullptr;
  DOOR(cuLaunchKernelEx_ptsz)(&config, function, parameters.data(), nullptr);
  EXPECT_EQ(the_runtime().seen.back().access.stream.handle, CU_STREAM_PER_THREAD);
  DOOR(cuLaunchCooperativeKernel)(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters.data());
  EXPECT_EQ(the_runtime().seen.back().access.stream.handle, CU_STREAM_LEGACY);
  DOOR(cuLaunchCooperativeKernel_ptsz)(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters.data());
  EXPECT_EQ(the_runtime().seen.back().access.stream.handle, CU_STREAM_PER_THREAD);
  EXPECT_EQ(the_runtime().seen.back().pointers, Pointers{kArena});
  EXPECT_EQ(the_runtime().seen.size(), 5u);
}

TEST_F(Doors, TheSignatureIsOfFunctionAndShapeNotOfAddresses) {
  const CUfunction function = next_function({{0, 8}});
  const CUfunction other = next_function({{0, 8}});
  CUdeviceptr pointer = kArena;
  std::array<void*, 1> parameters{&pointer};
  const std::uint64_t first = launch(function, parameters.data()).access.signature;
  pointer += 4096;
  EXPECT_EQ(launch(function, parameters.data()).access.signature, first);
  EXPECT_NE(launch(other, parameters.data()).access.signature, first);
  DOOR(cuLaunchKernel)(function, 3, 1, 1, 32, 1, 1, 0, kStream, parameters.data(), nullptr);
  EXPECT_NE(the_runtime().seen.back().access.signature, first);
}

TEST_F(Doors, ALaunchTheRuntimeAnswersIsNotMade) {
  const CUfunction function = next_function({});
  const unsigned before = stub_calls("cuLaunchKernel");
  the_runtime().admission = {false, CUDA_ERROR_OUT_OF_MEMORY, 0};
  EXPECT_EQ(DOOR(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(stub_calls("cuLaunchKernel"), before);
}

TEST_F(Doors, ALaunchThatRunsOutOfMemoryIsTriedOnceMore) {
  const unsigned before = stub_calls("cuLaunchKernel");
  stub_set_result("cuLaunchKernel", CUDA_ERROR_OUT_OF_MEMORY);
  the_runtime().can_make_room = true;
  EXPECT_EQ(DOOR(cuLaunchKernel)(next_function({}), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(stub_calls("cuLaunchKernel"), before + 2);
  EXPECT_EQ(the_runtime().results, std::vector<CUresult>{CUDA_ERROR_OUT_OF_MEMORY});
}

}  // namespace
