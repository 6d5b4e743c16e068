#include "src/base/log.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/base/captured_log.hpp"

namespace tencache {
namespace {

TEST(Log, ALineHasThePrefix) {
  const CapturedLog captured;
  log::warn("no room for {} bytes", 5);
  EXPECT_EQ(captured.text(), "tencache: no room for 5 bytes\n");
}

TEST(Log, OnlyTheLevelsAskedFor) {
  const CapturedLog captured;
  log::set_level(LogLevel::kWarn);
  log::info("not said");
  log::error("said");
  log::set_level(LogLevel::kOff);
  log::error("not said either");
  EXPECT_EQ(captured.text(), "tencache: said\n");
}

TEST(Log, RepeatsAreCapped) {
  const CapturedLog captured;
  for (int i = 0; i < 100; ++i) log::warn("block {} refused", i);
  const std::string text = captured.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 16);
  EXPECT_TRUE(text.ends_with("tencache: block 15 refused (said 16 times; not again)\n"));
}

TEST(Log, ALongLineIsCut) {
  const CapturedLog captured;
  log::warn("{}", std::string(5000, 'x'));
  const std::string text = captured.text();
  EXPECT_LE(text.size(), log::kLongestLine);
  EXPECT_TRUE(text.ends_with("xxx\n"));
}

TEST(Log, ErrnoIsKept) {
  log::set_output(-1);  // the write fails
  errno = ENOENT;
  log::warn("lost");
  EXPECT_EQ(errno, ENOENT);
  log::set_output(STDERR_FILENO);
}

}  // namespace
}  // namespace tencache
