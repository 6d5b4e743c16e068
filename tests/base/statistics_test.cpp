#include "src/base/statistics.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "src/base/summary.hpp"
#include "tests/base/captured_log.hpp"

namespace tencache {
namespace {

TEST(Statistics, CountersAddAndKeepPeaks) {
  Statistics statistics;
  count(statistics.launches);
  count(statistics.launches, 2);
  set_level(statistics.live_bytes, statistics.live_peak, 5_MiB);
  set_level(statistics.live_bytes, statistics.live_peak, 3_MiB);
  EXPECT_EQ(statistics.launches, 3u);
  EXPECT_EQ(Bytes(statistics.live_bytes), 3_MiB);
  EXPECT_EQ(Bytes(statistics.live_peak), 5_MiB);
}

TEST(Statistics, JsonHasEveryCounter) {
  Statistics statistics;
  count(statistics.bytes_in, 4_KiB);
  std::array<char, 4096> buffer;
  TextWriter out(buffer);
  print_json(statistics, out);
  EXPECT_FALSE(out.truncated());
  EXPECT_TRUE(out.view().starts_with("{\"schema\":1,\"allocations\":0,"));
  EXPECT_NE(out.view().find("\"bytes_in\":4096"), std::string_view::npos);
  EXPECT_EQ(static_cast<std::size_t>(std::count(out.view().begin(), out.view().end(), ':')),
            counter_rows().size() + 1);
}

TEST(Statistics, TheTableLeavesOutZeros) {
  Statistics statistics;
  count(statistics.bytes_in, 4_KiB);
  count(statistics.stall_nanoseconds, 1500_us);
  std::array<char, 1024> buffer;
  TextWriter out(buffer);
  print_table(statistics, out);
  EXPECT_EQ(out.view(),
            "      4.00 KiB  bytes_in               bytes copied into HBM\n"
            "      1.500 ms  stall_nanoseconds      time those accesses waited\n");
}

constexpr SummaryFacts kFacts{16_GiB, 24_GiB, 64_GiB, Nanoseconds(10000000000)};

TEST(Summary, SaysWhatMovedInAtMostTwelveLines) {
  Statistics statistics;
  set_level(statistics.live_bytes, statistics.live_peak, 38_GiB);
  set_level(statistics.hbm_bytes, statistics.hbm_peak, 16_GiB);
  count(statistics.bytes_in, 100_GiB);
  count(statistics.evictions);
  count(statistics.accesses, 1000);
  count(statistics.stalls, 7);
  count(statistics.stall_nanoseconds, 1000_ms);
  std::array<char, 2048> buffer;
  TextWriter out(buffer);
  print_summary(statistics, kFacts, out);
  const std::string_view text = out.view();
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 12);
  for (const char* line : {"wanted at most     38.0 GiB (HBM limit 16.0 GiB, device 24.0 GiB)\n",
                           "hbm 16.0 GiB, host 0 B (limit 64.0 GiB)\n", "in 100 GiB, out 0 B",
                           "7 of 1000 accesses, 1000.0 ms (10.0 % of 10.0 s)\n",
                           "held by run-ahead  0.0 ms; 0 quiescent windows\n",
                           "run from host      0 accesses\n", "next               `tencache doctor`"})
    EXPECT_NE(text.find(line), std::string_view::npos) << line << "\n" << text;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Summary, GoesToAFileNamedForTheProcess) {
  const std::string folder = testing::TempDir();
  const std::string path = folder + "/summary_test." + std::to_string(getpid());
  write_summary(Statistics{}, kFacts, *parse<ReportTarget>(folder + "/summary_test.%p"));
  EXPECT_NE(content_of(path).find("the program fits"), std::string::npos);
  unlink(path.c_str());
}

}  // namespace
}  // namespace tencache
