// What outlives a call: addresses handed to others, descriptors that name memory, the program's own mappings.
#include <array>
#include <cstring>

#include "tests/interpose/doors_fixture.hpp"

namespace {

using doors_test::calls;
using doors_test::kArena;
using doors_test::the_runtime;
using Addresses = std::vector<CUdeviceptr>;
using Doors = doors_test::DoorsTest;

constexpr CUdeviceptr kForeign = 0x300000000000;

CUtexObject last_texture = 0;
CUresult create_texture(CUtexObject* texture, const CUDA_RESOURCE_DESC*, const CUDA_TEXTURE_DESC*,
                        const CUDA_RESOURCE_VIEW_DESC*) {
  *texture = ++last_texture;
  return CUDA_SUCCESS;
}
bool map_shows_address = false;
CUresult replace_address(CUtensorMap* map, void* address) {
  std::memset(map, 0, sizeof(*map));
  if (map_shows_address) std::memcpy(&map->opaque[2], &address, sizeof(address));
  return CUDA_SUCCESS;
}
const bool replaced = [] {
  doors_test::replace("cuTexObjectCreate", reinterpret_cast<void*>(&create_texture));
  doors_test::replace("cuTensorMapReplaceAddress", reinterpret_cast<void*>(&replace_address));
  return true;
}();

CUtexObject texture_over(CUdeviceptr address, CUresourcetype type) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = type;
  if (type == CU_RESOURCE_TYPE_LINEAR) resource.res.linear.devPtr = address;
  if (type == CU_RESOURCE_TYPE_PITCH2D) resource.res.pitch2D.devPtr = address;
  CUtexObject texture = 0;
  EXPECT_EQ(DOOR(cuTexObjectCreate)(&texture, &resource, nullptr, nullptr), CUDA_SUCCESS);
  return texture;
}

TEST_F(Doors, PagesThatOthersGetHoldOfAreFrozen) {
  CUmemGenericAllocationHandle handle = 0;
  int file = 0;
  EXPECT_EQ(DOOR(cuMemRetainAllocationHandle)(&handle, reinterpret_cast<void*>(kArena)), CUDA_SUCCESS);
  EXPECT_EQ(
      DOOR(cuMemGetHandleForAddressRange)(&file, kArena + 4096, 4096, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0),
      CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuMulticastBindAddr)(0, 0, kArena + 8192, 4096, 0), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuMemRetainAllocationHandle)(&handle, reinterpret_cast<void*>(kForeign)), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().frozen, (Addresses{kArena, kArena + 4096, kArena + 8192}));
}

TEST_F(Doors, PagesThatCannotBeFrozenAreNotHandedOut) {
  the_runtime().can_freeze = false;
  CUmemGenericAllocationHandle handle = 0;
  const unsigned before = calls("cuMemRetainAllocationHandle");
  EXPECT_EQ(DOOR(cuMemRetainAllocationHandle)(&handle, reinterpret_cast<void*>(kArena)),
            CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(calls("cuMemRetainAllocationHandle"), before);
}

TEST_F(Doors, OurMappingsAreNotTheProgramsToChange) {
  EXPECT_EQ(DOOR(cuMemUnmap)(kArena, 4096), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(DOOR(cuMemMap)(kArena, 4096, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(DOOR(cuMemSetAccess)(kArena, 4096, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(DOOR(cuMemAddressFree)(kArena, 4096), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(calls("cuMemUnmap") + calls("cuMemMap") + calls("cuMemSetAccess") + calls("cuMemAddressFree"),
            0u);
  EXPECT_EQ(DOOR(cuMemUnmap)(kForeign, 4096), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuMemMap)(kForeign, 4096, 0, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuMemSetAccess)(kForeign, 4096, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuMemAddressFree)(kForeign, 4096), CUDA_SUCCESS);
}

TEST_F(Doors, ATextureHoldsItsMemoryWhileItLives) {
  const CUtexObject linear = texture_over(kArena + 64, CU_RESOURCE_TYPE_LINEAR);
  const CUtexObject rows = texture_over(kArena + 128, CU_RESOURCE_TYPE_PITCH2D);
  const CUtexObject foreign = texture_over(kForeign, CU_RESOURCE_TYPE_LINEAR);
  texture_over(0, CU_RESOURCE_TYPE_ARRAY);
  EXPECT_EQ(the_runtime().held, (Addresses{kArena + 64, kArena + 128}));
  EXPECT_TRUE(the_runtime().let_go_of.empty());
  for (const CUtexObject texture : {rows, foreign, linear})
    EXPECT_EQ(DOOR(cuTexObjectDestroy)(texture), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().let_go_of, (Addresses{kArena + 128, kArena + 64}));
}

TEST_F(Doors, ATextureReferenceHoldsWhatItWasGivenLast) {
  const auto reference = reinterpret_cast<CUtexref>(0x77);
  std::size_t offset = 0;
  EXPECT_EQ(DOOR(cuTexRefSetAddress_v2)(&offset, reference, kArena, 64), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuTexRefSetAddress2D_v3)(reference, nullptr, kArena + 512, 64), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().held, (Addresses{kArena, kArena + 512}));
  EXPECT_EQ(the_runtime().let_go_of, Addresses{kArena});
  const auto other = reinterpret_cast<CUtexref>(0x78);
  EXPECT_EQ(DOOR(cuTexRefSetAddress2D_v2)(other, nullptr, kArena + 1024, 64), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().held.back(), kArena + 1024);
  EXPECT_EQ(DOOR(cuTexRefSetAddress2D_v2)(other, nullptr, kForeign, 64), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().let_go_of, (Addresses{kArena, kArena + 1024}));
  the_runtime().let_go_of.pop_back();
  EXPECT_EQ(DOOR(cuTexRefSetArray)(reference, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuTexRefSetMipmappedArray)(reference, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().let_go_of, (Addresses{kArena, kArena + 512}));
}

TEST_F(Doors, ATensorMapThatHidesItsAddressHoldsTheMemory) {
  CUtensorMap map{};
  map_shows_address = true;
  EXPECT_EQ(DOOR(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(kArena + 64)), CUDA_SUCCESS);
  EXPECT_TRUE(the_runtime().held_until_freed.empty());
  map_shows_address = false;
  EXPECT_EQ(DOOR(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(kArena + 64)), CUDA_SUCCESS);
  EXPECT_EQ(DOOR(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(kForeign)), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().held_until_freed, Addresses{kArena + 64});
}

TEST_F(Doors, EveryWayToEncodeATensorMapIsSeen) {
  CUtensorMap map{};
  void* const address = reinterpret_cast<void*>(kArena);
  DOOR(cuTensorMapEncodeTiled)
  (&map, {}, 1, address, nullptr, nullptr, nullptr, nullptr, {}, {}, {}, {});
  DOOR(cuTensorMapEncodeIm2col)
  (&map, {}, 1, address, nullptr, nullptr, nullptr, nullptr, 1, 1, nullptr, {}, {}, {}, {});
  DOOR(cuTensorMapEncodeIm2colWide)
  (&map, {}, 1, address, nullptr, nullptr, 0, 0, 1, 1, nullptr, {}, {}, {}, {}, {});
  EXPECT_EQ(the_runtime().held_until_freed, (Addresses{kArena, kArena, kArena}));
}

}  // namespace
