#include "policy/trace.hpp"

#include <gtest/gtest.h>

#include "tests/policy/random_trace.hpp"

namespace tencache::policy {
namespace {

constexpr const char* kSmall =
    "# small: two kernels\n"
    "tensor 0 1048576 persistent\n"
    "tensor 1 4096 transient\n"
    "\n"
    "kernel forward 0.000123456 reads 0 writes 1\n"
    "kernel backward 2.5 reads 1 writes 0 enqueued 0.000050000 stream 1\n";

TEST(Trace, ReadsEveryField) {
  auto trace = parse_trace(kSmall);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->name, "small");
  EXPECT_EQ(trace->tensors[0].size, 1_MiB);
  EXPECT_TRUE(trace->tensors[0].persistent);
  EXPECT_FALSE(trace->tensors[1].persistent);
  EXPECT_EQ(trace->kernels[0].duration, 123456_ns);
  EXPECT_EQ(trace->kernels[1].duration, 2500_ms);
  EXPECT_EQ(trace->kernels[1].reads, std::vector<TensorIndex>{1});
  EXPECT_EQ(trace->kernels[1].writes, std::vector<TensorIndex>{0});
  EXPECT_EQ(trace->kernels[1].enqueued_at, 50_us);
  EXPECT_EQ(trace->kernels[1].stream, 1u);
}

TEST(Trace, WhatIsWrittenReadsTheSame) {
  const Trace trace = tests::random_trace(7, 50);
  auto again = parse_trace(format_trace(trace));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(format_trace(*again), format_trace(trace));
}

struct Broken {
  const char* text;
  int line;
};

TEST(Trace, SaysWhichLineIsWrong) {
  const Broken broken[] = {
      {"tensor 1 5 persistent\n", 1},
      {"tensor 0 x persistent\n", 1},
      {"tensor 0 5 eternal\n", 1},
      {"\nkernel k\n", 2},
      {"kernel k 1.0000000001\n", 1},
      {"kernel k 1 reads 0\n", 1},
      {"tensor 0 5 transient\nkernel k 1 0\n", 2},
      {"bogus\n", 1},
      {"kernel k 1 stream\n", 1},
      {"kernel k -1\n", 1},
  };
  for (const Broken& b : broken) {
    auto trace = parse_trace(b.text);
    ASSERT_FALSE(trace.ok()) << b.text;
    EXPECT_EQ(trace.status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(trace.status().driver_code(), b.line) << b.text;
  }
  EXPECT_FALSE(parse_trace("").ok());
}

}  // namespace
}  // namespace tencache::policy
