// Tests of the table of SOFTGPU_* variables, the adversary's choices and the link's clock.
#include <gtest/gtest.h>

#include <cstring>

#include "tools/softgpu/device/chaos.hpp"
#include "tools/softgpu/device/link.hpp"
#include "tools/softgpu/device/settings.hpp"

namespace softgpu {
namespace {

std::uint64_t parsed(SettingKind kind, const char* text) {
  std::uint64_t value = 12345;
  return parse_setting(kind, text, &value) ? value : 12345;
}

TEST(SettingsTest, ReadsUnits) {
  EXPECT_EQ(268435456U, parsed(SettingKind::kBytes, "256MiB"));
  EXPECT_EQ(1500000000U, parsed(SettingKind::kBytes, "1.5GB"));
  EXPECT_EQ(2000000000U, parsed(SettingKind::kRate, "2GB/s"));
  EXPECT_EQ(0U, parsed(SettingKind::kRate, "instant"));
  EXPECT_EQ(3000U, parsed(SettingKind::kTime, "3us"));
  EXPECT_EQ(80U, parsed(SettingKind::kPercent, "80%"));
  EXPECT_EQ(255U, parsed(SettingKind::kCount, "0xff"));
}

TEST(SettingsTest, RefusesWhatItDoesNotUnderstand) {
  for (const char* text : {"", "MiB", "-1MiB", "256MiBs", "2GB/s"})
    EXPECT_EQ(12345U, parsed(SettingKind::kBytes, text));
  EXPECT_EQ(12345U, parsed(SettingKind::kRate, "2GB"));
  EXPECT_EQ(12345U, parsed(SettingKind::kPercent, "101%"));
  EXPECT_EQ(12345U, parsed(SettingKind::kSwitch, "2"));
  EXPECT_EQ(12345U, parsed(SettingKind::kCount, "12x"));
}

struct Read {
  Settings settings;
  std::string said;
};
template <class Lookup>
Read read_and_listen(Lookup lookup) {
  testing::internal::CaptureStderr();
  const Settings settings = read_settings(lookup);
  return {settings, testing::internal::GetCapturedStderr()};
}

TEST(SettingsTest, KeepsTheDefaultAndSaysSo) {
  const Read read = read_and_listen(
      [](const char* name) { return std::strcmp(name, "SOFTGPU_HBM") == 0 ? "much" : nullptr; });
  EXPECT_EQ(std::uint64_t{1} << 30, read.settings.hbm);
  EXPECT_EQ("softgpu: SOFTGPU_HBM=much is not understood, using 1GiB\n", read.said);
}

// A block smaller than a page of the device's table could not be mapped by itself.
TEST(SettingsTest, RefusesAGranularityThatIsNotWholePages) {
  for (const char* text : {"0", "4KiB", "63KiB", "96KiB"}) {
    EXPECT_EQ(12345U, parsed(SettingKind::kPages, text)) << text;
  }
  EXPECT_EQ(65536U, parsed(SettingKind::kPages, "64KiB"));
  const Read read = read_and_listen(
      [](const char* name) { return std::strcmp(name, "SOFTGPU_GRANULARITY") == 0 ? "4KiB" : nullptr; });
  EXPECT_EQ(std::uint64_t{2} << 20, read.settings.granularity);
  EXPECT_EQ("softgpu: SOFTGPU_GRANULARITY=4KiB is no multiple of 64KiB, using 2MiB\n", read.said);
}

TEST(SettingsTest, FindsNamesThatAreNone) {
  std::string texts[] = {"SOFTGPU_HBM=1MiB", "SOFTGPU_HMB=1MiB", "PATH=/bin", "SOFTGPU_="};
  char* environment[] = {texts[0].data(), texts[1].data(), texts[2].data(), texts[3].data(), nullptr};
  EXPECT_EQ((std::vector<std::string>{"SOFTGPU_HMB", "SOFTGPU_"}), unknown_settings(environment));
}

TEST(ChaosTest, ChoosesBySeedAlone) {
  const Chaos one(1, 1'000'000);
  const Chaos two(2, 1'000'000);
  bool delayed = false;
  bool differs = false;
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(one.start_delay(3, i), Chaos(1, 1'000'000).start_delay(3, i));
    EXPECT_LT(one.start_delay(3, i), 1'000'000U);
    delayed |= one.start_delay(3, i) > 0;
    differs |= one.start_delay(3, i) != two.start_delay(3, i);
  }
  EXPECT_TRUE(delayed);
  EXPECT_TRUE(differs);
  EXPECT_EQ(0U, Chaos().start_delay(3, 4));
}

TEST(LinkTest, IsFirstInFirstOutADirectionAndSlowerInBoth) {
  Link link(1'000'000'000, 500'000'000, 50);
  EXPECT_EQ(1000U + 4000U, link.transfer(Direction::kToDevice, 1000, 4000));
  EXPECT_EQ(5000U + 1000U, link.transfer(Direction::kToDevice, 2000, 1000));
  // The other direction keeps half of its rate while this one is busy.
  EXPECT_EQ(2000U + 4000U, link.transfer(Direction::kToHost, 2000, 1000));
  EXPECT_EQ(7000U + 2000U, link.transfer(Direction::kToHost, 7000, 1000));
  link.enter(Direction::kToDevice);
  EXPECT_EQ(20000U + 4000U, link.transfer(Direction::kToHost, 20000, 1000));
  link.leave(Direction::kToDevice);
  EXPECT_EQ(30000U + 2000U, link.transfer(Direction::kToHost, 30000, 1000));
}

}  // namespace
}  // namespace softgpu
