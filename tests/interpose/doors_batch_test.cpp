// Batches of copies, decompressions, and operations on values in memory.
#include <array>

#include "tests/interpose/doors_fixture.hpp"

namespace {

using doors_test::kArena;
using doors_test::kStream;
using doors_test::the_runtime;
using tencache::Bytes;
using tencache::runtime::Access;
using tencache::runtime::AccessKind;
using Doors = doors_test::DoorsTest;

constexpr CUdeviceptr kForeign = 0x300000000000;
constexpr CUdeviceptr kAlias = 0x400000000000;

struct Copied {
  CUdeviceptr destination;
  CUdeviceptr source;
  std::size_t size;
  std::size_t count;
  unsigned flags;
  bool operator==(const Copied&) const = default;
};
std::vector<Copied> copied;
std::size_t refuse_from = ~std::size_t{0};

CUresult copy_batch(CUdeviceptr* destinations, CUdeviceptr* sources, std::size_t* sizes, std::size_t count,
                    CUmemcpyAttributes* attributes, std::size_t*, std::size_t, CUstream) {
  if (copied.size() >= refuse_from) return CUDA_ERROR_INVALID_VALUE;
  copied.push_back({destinations[0], sources[0], sizes[0], count, attributes[0].flags});
  return CUDA_SUCCESS;
}
CUresult copy_batch_v1(CUdeviceptr* destinations, CUdeviceptr* sources, std::size_t* sizes, std::size_t count,
                       CUmemcpyAttributes* attributes, std::size_t* first_of, std::size_t attribute_count,
                       std::size_t*, CUstream stream) {
  return copy_batch(destinations, sources, sizes, count, attributes, first_of, attribute_count, stream);
}

std::vector<CUdeviceptr> written;
CUresult write_value(CUstream, CUdeviceptr address, cuuint32_t, unsigned) {
  written.push_back(address);
  return CUDA_SUCCESS;
}
struct Operated {
  unsigned count;
  CUstreamBatchMemOpType type;
  bool operator==(const Operated&) const = default;
};
std::vector<Operated> operated;
CUresult operate(CUstream, unsigned count, CUstreamBatchMemOpParams* operations, unsigned) {
  operated.push_back({count, operations[0].operation});
  return CUDA_SUCCESS;
}

const bool replaced = [] {
  doors_test::replace("cuMemcpyBatchAsync_v2", reinterpret_cast<void*>(&copy_batch));
  doors_test::replace("cuMemcpyBatchAsync", reinterpret_cast<void*>(&copy_batch_v1));
  doors_test::replace("cuStreamWriteValue32_v2", reinterpret_cast<void*>(&write_value));
  doors_test::replace("cuStreamBatchMemOp_v2", reinterpret_cast<void*>(&operate));
  return true;
}();

const Access& last() { return the_runtime().seen.back().access; }

// Three copies; the first attributes hold for one, the second for the others.
struct Batch {
  std::array<CUdeviceptr, 3> destinations{kArena, kForeign, kArena + 0x1000};
  std::array<CUdeviceptr, 3> sources{kForeign, kForeign + 64, kArena + 0x2000};
  std::array<std::size_t, 3> sizes{8, 16, 24};
  std::array<CUmemcpyAttributes, 2> attributes{};
  std::array<std::size_t, 2> first_of{0, 1};
  Batch() {
    attributes[0].flags = 7;
    attributes[1].flags = 9;
  }
  CUresult copy() {
    return DOOR(cuMemcpyBatchAsync_v2)(destinations.data(), sources.data(), sizes.data(), 3,
                                       attributes.data(), first_of.data(), 2, kStream);
  }
};

TEST_F(Doors, ABatchWithOurAddressesIsLetInCopyByCopy) {
  copied.clear();
  Batch batch;
  EXPECT_EQ(batch.copy(), CUDA_SUCCESS);
  EXPECT_EQ(copied, (std::vector<Copied>{{kArena, kForeign, 8, 1, 7},
                                         {kForeign, kForeign + 64, 16, 1, 9},
                                         {kArena + 0x1000, kArena + 0x2000, 24, 1, 9}}));
  ASSERT_EQ(the_runtime().seen.size(), 3u);
  EXPECT_EQ(the_runtime().seen[0].access.kind, AccessKind::kCopy);
  EXPECT_EQ(the_runtime().seen[0].access.destination.size, Bytes(8));
  EXPECT_EQ(the_runtime().seen[0].access.source.size, Bytes());
  EXPECT_EQ(the_runtime().seen[2].access.source.size, Bytes(24));
  EXPECT_EQ(the_runtime().seen[2].access.stream.handle, kStream);
}

TEST_F(Doors, ABatchOfOthersMemoryGoesToTheDriverAsItIs) {
  copied.clear();
  Batch batch;
  batch.destinations.fill(kForeign);
  batch.sources.fill(kForeign);
  EXPECT_EQ(batch.copy(), CUDA_SUCCESS);
  EXPECT_EQ(copied, (std::vector<Copied>{{kForeign, kForeign, 8, 3, 7}}));
  ASSERT_EQ(the_runtime().seen.size(), 1u);
  EXPECT_EQ(last().kind, AccessKind::kOther);
  EXPECT_FALSE(last().opaque);
}

TEST_F(Doors, TheFirstFormOfABatchSaysWhichCopyFailed) {
  copied.clear();
  refuse_from = 1;
  Batch batch;
  std::size_t failed = 99;
  EXPECT_EQ(DOOR(cuMemcpyBatchAsync)(batch.destinations.data(), batch.sources.data(), batch.sizes.data(), 3,
                                     batch.attributes.data(), batch.first_of.data(), 2, &failed, kStream),
            CUDA_ERROR_INVALID_VALUE);
  refuse_from = ~std::size_t{0};
  EXPECT_EQ(failed, 1u);
}

TEST_F(Doors, PartsOfABatchsCopyAreBatchesOfOne) {
  copied.clear();
  the_runtime().on_before = [](const Access& access) {
    if (access.destination.size == Bytes()) return;
    EXPECT_EQ(access.parts->issue(0, access.parts->rows_at(0), kAlias, 0), CUDA_SUCCESS);
  };
  the_runtime().admission = {false, CUDA_SUCCESS, 0};
  Batch batch;
  EXPECT_EQ(batch.copy(), CUDA_SUCCESS);
  EXPECT_EQ(copied[0], (Copied{kAlias, kForeign, 8, 1, 7}));
}

TEST_F(Doors, WhatA3dBatchOrADecompressionNamesIsTold) {
  CUDA_MEMCPY3D_BATCH_OP box{};
  box.src.type = box.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  box.src.op.ptr.ptr = kForeign;
  box.dst.op.ptr.ptr = kArena + 64;
  EXPECT_EQ(DOOR(cuMemcpy3DBatchAsync_v2_ptsz)(1, &box, 0, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().seen.back().pointers, std::vector<CUdeviceptr>{kArena + 64});
  EXPECT_EQ(last().stream.handle, CU_STREAM_PER_THREAD);
  EXPECT_EQ(DOOR(cuMemcpy3DBatchAsync_v2)(1, &box, 0, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(last().stream.handle, CU_STREAM_LEGACY);
  EXPECT_EQ(DOOR(cuMemcpy3DBatchAsync)(1, &box, nullptr, 0, kStream), CUDA_SUCCESS);
  EXPECT_EQ(last().stream.handle, kStream);
  EXPECT_EQ(DOOR(cuMemcpy3DBatchAsync_ptsz)(1, &box, nullptr, 0, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(last().stream.handle, CU_STREAM_PER_THREAD);
  EXPECT_EQ(the_runtime().seen.back().pointers, std::vector<CUdeviceptr>{kArena + 64});
  CUmemDecompressParams parameters{};
  parameters.src = reinterpret_cast<void*>(kArena + 128);
  parameters.dst = reinterpret_cast<void*>(kArena + 256);
  parameters.dstActBytes = reinterpret_cast<cuuint32_t*>(kForeign);
  EXPECT_EQ(DOOR(cuMemBatchDecompressAsync)(&parameters, 1, 0, nullptr, kStream), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().seen.back().pointers, (std::vector<CUdeviceptr>{kArena + 256, kArena + 128}));
  EXPECT_EQ(DOOR(cuMemBatchDecompressAsync_ptsz)(&parameters, 1, 0, nullptr, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(last().stream.handle, CU_STREAM_PER_THREAD);
}

TEST_F(Doors, AWrittenValueFreezesItsMemoryAndIsALittleCopy) {
  written.clear();
  EXPECT_EQ(DOOR(cuStreamWriteValue32_v2)(kStream, kArena + 4, 5, 0), CUDA_SUCCESS);
  EXPECT_EQ(the_runtime().frozen, std::vector<CUdeviceptr>{kArena + 4});
  EXPECT_EQ(last().destination.size, Bytes(4));
  EXPECT_FALSE(last().destination_overwritten);
  EXPECT_EQ(written, std::vector<CUdeviceptr>{kArena + 4});
  the_runtime().on_before = [](const Access& access) {
    access.parts->issue(0, access.parts->rows_at(0), kAlias, 0);
  };
  the_runtime().admission = {false, CUDA_SUCCESS, 0};
  EXPECT_EQ(DOOR(cuStreamWriteValue32_v2)(kStream, kArena + 4, 5, 0), CUDA_SUCCESS);
  EXPECT_EQ(written.back(), kAlias);
}

TEST_F(Doors, AWaitForAValueOfOursNamesItAndOthersFreezeNothing) {
  EXPECT_EQ(DOOR(cuStreamWaitValue64_v2_ptsz)(nullptr, kArena + 8, 5, 0), CUDA_SUCCESS);
  EXPECT_EQ(last().kind, AccessKind::kStreamWait);
  EXPECT_EQ(last().source.size, Bytes(8));
  EXPECT_EQ(last().stream.handle, CU_STREAM_PER_THREAD);
  EXPECT_EQ(DOOR(cuStreamWaitValue32)(kStream, kForeign, 5, 0), CUDA_SUCCESS);
  EXPECT_EQ(last().source.size, Bytes());
  EXPECT_EQ(the_runtime().frozen, std::vector<CUdeviceptr>{kArena + 8});
}

TEST_F(Doors, AValueHasAsManyBytesAsItsNameSays) {
  const auto expect_write = [](std::size_t size, CUstream stream) {
    EXPECT_EQ(last().kind, AccessKind::kMemset);
    EXPECT_EQ(last().destination.size, Bytes(size));
    EXPECT_EQ(last().stream.handle, stream);
  };
  DOOR(cuStreamWriteValue32)(kStream, kArena, 5, 0);
  expect_write(4, kStream);
  DOOR(cuStreamWriteValue64)(kStream, kArena, 5, 0);
  expect_write(8, kStream);
  DOOR(cuStreamWriteValue64_v2)(nullptr, kArena, 5, 0);
  expect_write(8, CU_STREAM_LEGACY);
  DOOR(cuStreamWriteValue64_v2_ptsz)(nullptr, kArena, 5, 0);
  expect_write(8, CU_STREAM_PER_THREAD);
  DOOR(cuStreamWaitValue32_v2)(kStream, kArena, 5, 0);
  EXPECT_EQ(last().source.size, Bytes(4));
  DOOR(cuStreamWaitValue64_v2)(kStream, kArena, 5, 0);
  EXPECT_EQ(last().source.size, Bytes(8));
}

TEST_F(Doors, ABatchOfMemoryOperationsOnOursIsMadeOneByOne) {
  operated.clear();
  std::array<CUstreamBatchMemOpParams, 3> operations{};
  operations[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operations[0].writeValue.address = kForeign;
  operations[1].operation = CU_STREAM_MEM_OP_BARRIER;
  operations[2].operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
  operations[2].waitValue.address = kForeign;
  EXPECT_EQ(DOOR(cuStreamBatchMemOp_v2)(kStream, 3, operations.data(), 0), CUDA_SUCCESS);
  EXPECT_EQ(operated, (std::vector<Operated>{{3, CU_STREAM_MEM_OP_WRITE_VALUE_32}}));
  operations[2].waitValue.address = kArena;
  EXPECT_EQ(DOOR(cuStreamBatchMemOp_v2)(kStream, 3, operations.data(), 0), CUDA_SUCCESS);
  EXPECT_EQ(operated.size(), 4u);
  EXPECT_EQ(operated[2], (Operated{1, CU_STREAM_MEM_OP_BARRIER}));
  EXPECT_EQ(the_runtime().frozen, std::vector<CUdeviceptr>{kArena});
  EXPECT_EQ(last().kind, AccessKind::kStreamWait);
}

}  // namespace
