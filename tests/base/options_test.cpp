#include "src/base/options.hpp"

#include <gtest/gtest.h>

#include "tests/base/captured_log.hpp"

namespace tencache {
namespace {

OptionsReading read(std::vector<const char*> environment) {
  environment.push_back(nullptr);
  return read_options(environment.data());
}

TEST(Options, EveryDefaultIsAValueOfItsType) {
  for (const OptionRow& row : option_rows()) {
    Options options;
    EXPECT_TRUE(row.parse(row.default_text, &options).ok()) << row.name;
  }
}

TEST(Options, DefaultsArePrintedAsTheTableWritesThem) {
  const Options options = default_options();
  for (const OptionRow& row : option_rows()) {
    std::array<char, 64> buffer;
    TextWriter out(buffer);
    row.print(options, out);
    EXPECT_EQ(out.view(), row.default_text) << row.name;
  }
}

TEST(Options, AnEmptyEnvironmentGivesTheDefaults) {
  const OptionsReading reading = read({});
  EXPECT_TRUE(reading.options.enabled);
  EXPECT_EQ(reading.options.block_size, 32_MiB);
  EXPECT_EQ(reading.options.run_ahead, 4_ms);
  EXPECT_EQ(reading.options.host, MemoryAmount::percent(50));
  EXPECT_EQ(reading.options.policy.view(), "learn");
  EXPECT_FALSE(reading.refused);
}

TEST(Options, ValuesAreRead) {
  const OptionsReading reading =
      read({"PATH=/bin", "TENCACHE=off", "TENCACHE_HBM=8GiB", "TENCACHE_HOST=75%", "TENCACHE_CENSUS=always",
            "TENCACHE_RUN_AHEAD=inf", "TENCACHE_SUMMARY=out.txt"});
  EXPECT_FALSE(reading.options.enabled);
  EXPECT_EQ(reading.options.hbm, MemoryAmount(8_GiB));
  EXPECT_EQ(reading.options.host, MemoryAmount::percent(75));
  EXPECT_EQ(reading.options.census, Census::kAlways);
  EXPECT_EQ(reading.options.run_ahead, kUnlimitedTime);
  EXPECT_EQ(reading.options.summary.path.view(), "out.txt");
  EXPECT_EQ(reading.wrong_values + reading.unknown_names, 0u);
}

TEST(Options, AWrongValueKeepsTheDefaultAndSaysSoOnce) {
  const CapturedLog log;
  const OptionsReading reading = read({"TENCACHE_HOST=8"});
  EXPECT_EQ(reading.options.host, MemoryAmount::percent(50));
  EXPECT_EQ(reading.wrong_values, 1u);
  EXPECT_FALSE(reading.refused);
  EXPECT_EQ(
      log.text(),
      "tencache: TENCACHE_HOST=8 is wrong: a size needs a unit, such as 8GiB or 512M; 50% is used instead; "
      "it takes: size, %, auto, inf\n");
}

TEST(Options, AnUnknownNameIsWarnedAboutWithTheNearest) {
  const CapturedLog log;
  const OptionsReading reading = read({"TENCACHE_HBN=8GiB", "TENCACHE_COFFEE_WITH_MILK=1", "TENCACHEABLE=1"});
  EXPECT_EQ(reading.unknown_names, 2u);
  EXPECT_EQ(
      log.text(),
      "tencache: unknown option TENCACHE_HBN is ignored; did you mean TENCACHE_HBM?\n"
      "tencache: unknown option TENCACHE_COFFEE_WITH_MILK is ignored; `tencache options` lists them all\n");
}

TEST(Options, TheNearestName) {
  EXPECT_STREQ(nearest_option("TENCACHE_RUNAHEAD")->name, "TENCACHE_RUN_AHEAD");
  EXPECT_STREQ(nearest_option("TENCACHE_BLOCKSIZE")->name, "TENCACHE_BLOCK_SIZE");
  EXPECT_STREQ(nearest_option("TENCACHE_SUMARY")->name, "TENCACHE_SUMMARY");
  EXPECT_EQ(nearest_option(std::string(500, 'X')), nullptr);
}

TEST(Options, StrictRefuses) {
  const CapturedLog log;
  EXPECT_TRUE(read({"TENCACHE_STRICT=1", "TENCACHE_HBN=8GiB"}).refused);
  EXPECT_TRUE(read({"TENCACHE_HBM=8", "TENCACHE_STRICT=1"}).refused);
  EXPECT_FALSE(read({"TENCACHE_HBM=8GiB", "TENCACHE_STRICT=1"}).refused);
}

TEST(Options, TheLogLevelHoldsForTheReadingItself) {
  const CapturedLog log;
  (void)read({"TENCACHE_HBN=8GiB", "TENCACHE_LOG=error"});
  EXPECT_EQ(log.text(), "");
}

}  // namespace
}  // namespace tencache
