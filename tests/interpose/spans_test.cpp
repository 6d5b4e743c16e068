// From a shaped copy to the range it touches: exact ends, empty operations, sizes that overflow.
#include "interpose/spans.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using tencache::Bytes;
using tencache::doors::Side;
using tencache::doors::span_of;
using tencache::doors::spans_of;

constexpr std::size_t kHuge = SIZE_MAX;

TEST(Span, RowsOfATable) {
  const Side side = span_of(1000, 64, 0, {10, 3, 1});
  EXPECT_EQ(side.range.base, 1000u);
  EXPECT_EQ(side.range.size, Bytes(138));
  EXPECT_FALSE(side.dense);
}

TEST(Span, OneRowIsDenseWhateverItsPitch) { EXPECT_TRUE(span_of(0, 64, 0, {10, 1, 1}).dense); }

TEST(Span, SlicesOfABox) {
  const Side side = span_of(0, 16, 5, {16, 5, 4});
  EXPECT_EQ(side.range.size, Bytes(320));
  EXPECT_TRUE(side.dense);
  EXPECT_FALSE(span_of(0, 16, 6, {16, 5, 4}).dense);
  EXPECT_EQ(span_of(0, 16, 6, {8, 5, 4}).range.size, Bytes(16 * 22 + 8));
}

TEST(Span, NothingIsTouchedByAnEmptyOne) {
  EXPECT_EQ(span_of(8, 16, 0, {0, 5, 1}).range.size, Bytes());
  EXPECT_EQ(span_of(8, 16, 0, {5, 0, 1}).range.size, Bytes());
  EXPECT_EQ(span_of(8, 16, 0, {5, 5, 0}).range.size, Bytes());
}

TEST(Span, WhatOverflowsIsLeftToTheDriver) {
  EXPECT_EQ(span_of(8, kHuge, 0, {1, 3, 1}).range.size, Bytes());
  EXPECT_EQ(span_of(8, 1, kHuge, {1, 1, 3}).range.size, Bytes());
  EXPECT_EQ(span_of(kHuge, 1, 0, {2, 1, 1}).range.size, Bytes());
  CUDA_MEMCPY2D copy{};
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstPitch = kHuge;
  copy.dstY = 2;
  copy.WidthInBytes = 1;
  copy.Height = 1;
  EXPECT_EQ(spans_of(copy).destination.range.size, Bytes());
}

TEST(Span, TheCornerMovesTheStart) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = 10000;
  copy.srcPitch = 100;
  copy.srcHeight = 10;
  copy.srcXInBytes = 3;
  copy.srcY = 2;
  copy.srcZ = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.WidthInBytes = 7;
  copy.Height = 2;
  copy.Depth = 2;
  const auto spans = spans_of(copy);
  EXPECT_EQ(spans.source.range.base, 10000u + (10 + 2) * 100 + 3);
  EXPECT_EQ(spans.source.range.size, Bytes(100 * 11 + 7));
  EXPECT_EQ(spans.destination.range.size, Bytes());
}

}  // namespace
