#include "src/base/value_text.hpp"

#include <gtest/gtest.h>

namespace tencache {
namespace {

template <class T>
std::string printed(const T& value) {
  std::array<char, 2048> buffer;
  TextWriter out(buffer);
  print(value, out);
  return std::string(out.view());
}

template <class T>
std::string hint(std::string_view text) {
  const Result<T> value = parse<T>(text);
  return value.ok() ? "accepted" : value.status().what();
}

TEST(ValueText, SizesTakeBinaryAndDecimalUnits) {
  EXPECT_EQ(*parse<Bytes>("8GiB"), 8_GiB);
  EXPECT_EQ(*parse<Bytes>("512M"), 512_MiB);
  EXPECT_EQ(*parse<Bytes>("512 mib"), 512_MiB);
  EXPECT_EQ(*parse<Bytes>("1.5GiB"), 1536_MiB);
  EXPECT_EQ(*parse<Bytes>("2GB"), Bytes(2000000000));
  EXPECT_EQ(*parse<Bytes>("4096B"), 4_KiB);
  EXPECT_EQ(*parse<Bytes>("0"), 0_B);
}

TEST(ValueText, ABareNumberIsRefusedWithAHint) {
  EXPECT_EQ(hint<Bytes>("8"), "a size needs a unit, such as 8GiB or 512M");
  EXPECT_EQ(hint<MemoryAmount>("8"), "a size needs a unit, such as 8GiB or 512M");
  EXPECT_EQ(hint<Nanoseconds>("4"), "a time needs a unit, such as 4ms or 500us");
}

TEST(ValueText, NonsenseIsRefused) {
  for (const char* text : {"", "GiB", "-1GiB", "8XiB", "8GiB ", "1.2.3GiB", "0x10M", "99999999999999999999B"})
    EXPECT_NE(hint<Bytes>(text), "accepted") << text;
  EXPECT_EQ(hint<Bytes>("99999999TiB"), "it is too large");
  for (const char* text : {"101%", "-1%", "1.5%", "%", "much", "8 % of it"})
    EXPECT_NE(hint<MemoryAmount>(text), "accepted") << text;
  EXPECT_EQ(hint<bool>("maybe"), "it takes on or off");
}

TEST(ValueText, AmountsAreSharesOfAWhole) {
  EXPECT_EQ(parse<MemoryAmount>("75%")->of(8_GiB, 1_GiB), 8_GiB / 100 * 75);
  EXPECT_EQ(parse<MemoryAmount>("3GiB")->of(8_GiB, 1_GiB), 3_GiB);
  EXPECT_EQ(parse<MemoryAmount>("auto")->of(8_GiB, 1_GiB), 1_GiB);
  EXPECT_EQ(parse<MemoryAmount>("inf")->of(8_GiB, 1_GiB), Bytes(UINT64_MAX));
}

TEST(ValueText, PrintedValuesReadBackAsThemselves) {
  for (const char* text : {"8GiB", "1536MiB", "75%", "auto", "inf", "7B", "0B", "1KiB"})
    EXPECT_EQ(printed(*parse<MemoryAmount>(text)), text);
  for (const char* text : {"4ms", "500us", "1s", "inf", "7ns"})
    EXPECT_EQ(printed(*parse<Nanoseconds>(text)), text);
  for (const char* text : {"on", "off"}) EXPECT_EQ(printed(*parse<bool>(text)), text);
  for (const char* text : {"on", "off", "/tmp/a.%p"}) EXPECT_EQ(printed(*parse<ReportTarget>(text)), text);
  EXPECT_EQ(printed(*parse<ReportTarget>("stderr")), "on");
}

TEST(ValueText, APathTooLongIsRefused) {
  EXPECT_EQ(hint<PathText>(std::string(1024, 'x')), "it is too long");
  EXPECT_EQ(hint<PathText>(std::string(1023, 'x')), "accepted");
}

TEST(ValueText, RoundedHasThreeDigits) {
  std::array<char, 64> buffer;
  TextWriter out(buffer);
  for (const Bytes bytes : {0_B, 1023_B, 1_KiB, 1536_MiB, 38_GiB, 900_GiB})
    print_rounded(bytes, out), out.append("|");
  EXPECT_EQ(out.view(), "0 B|1023 B|1.00 KiB|1.50 GiB|38.0 GiB|900 GiB|");
}

}  // namespace
}  // namespace tencache
