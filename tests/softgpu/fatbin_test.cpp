// Fat binaries as nvcc makes them, and damaged ones.
#include "tools/softgpu/ptx/fatbin.hpp"

#include <gtest/gtest.h>
#include <lz4.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "tools/softgpu/ptx/parser.hpp"

namespace softgpu::ptx {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Status = PtxImage::Status;

Bytes load(const std::string& name) {
  std::ifstream file(FATBINS "/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <class T>
T get(const Bytes& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <class T>
void put(Bytes& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

// Offsets in a fat binary with a single entry.
constexpr std::size_t kBytes = 8, kEntry = 16, kHeaderBytes = kEntry + 4, kPayloadBytes = kEntry + 8,
                      kCompressed = kEntry + 16, kFlags = kEntry + 40, kUncompressed = kEntry + 56;

void expect_kernel(const PtxImage& image, unsigned target) {
  ASSERT_EQ(image.status, Status::kFound) << image.what;
  EXPECT_EQ(image.target, target);
  const ParseResult result = parse(image.text);
  ASSERT_TRUE(result.module) << result.error.what;
  EXPECT_EQ(result.module->target, target);
  ASSERT_EQ(result.module->functions.size(), 1u);
  EXPECT_EQ(result.module->functions[0].name, "_Z18store_architecturePi");
}

TEST(FatBinary, RawAndCompressedHoldTheSameText) {
  const PtxImage raw = choose_ptx(load("raw.fatbin"), 75);
  expect_kernel(raw, 75);
  expect_kernel(choose_ptx(load("zstd.fatbin"), 75), 75);
  EXPECT_EQ(choose_ptx(load("zstd.fatbin"), 75).text, raw.text);
  EXPECT_EQ(raw.text.back(), '\n');
  EXPECT_EQ(get<std::uint32_t>(load("raw.fatbin"), kCompressed), 0u);
  EXPECT_NE(get<std::uint32_t>(load("zstd.fatbin"), kCompressed), 0u);
}

// The same entry as older compilers made it.
Bytes with_lz4(const Bytes& raw) {
  const std::size_t payload = kEntry + get<std::uint32_t>(raw, kHeaderBytes);
  const auto size = static_cast<int>(raw.size() - payload);
  std::vector<char> packed(static_cast<std::size_t>(LZ4_compressBound(size)));
  const int bytes = LZ4_compress_default(reinterpret_cast<const char*>(raw.data()) + payload, packed.data(),
                                         size, static_cast<int>(packed.size()));
  packed.resize((static_cast<std::size_t>(bytes) + 7) / 8 * 8);
  Bytes image(raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(payload));
  image.insert(image.end(), packed.begin(), packed.end());
  put<std::uint64_t>(image, kBytes, image.size() - kEntry);
  put<std::uint64_t>(image, kPayloadBytes, packed.size());
  put(image, kCompressed, static_cast<std::uint32_t>(bytes));
  put<std::uint64_t>(image, kFlags, 0x2011);
  put(image, kUncompressed, static_cast<std::uint64_t>(size));
  return image;
}

TEST(FatBinary, UnpacksLz4) {
  const Bytes raw = load("raw.fatbin");
  EXPECT_EQ(choose_ptx(with_lz4(raw), 75).text, choose_ptx(raw, 75).text);
}

TEST(FatBinary, FindsPtxBesideMachineCode) { expect_kernel(choose_ptx(load("default.fatbin"), 75), 75); }

TEST(FatBinary, TakesTheHighestThatTheDeviceRuns) {
  const Bytes image = load("several.fatbin");
  expect_kernel(choose_ptx(image, 75), 75);
  expect_kernel(choose_ptx(image, 79), 75);
  expect_kernel(choose_ptx(image, 80), 80);
  expect_kernel(choose_ptx(image, 89), 80);
  expect_kernel(choose_ptx(image, 90), 90);    // compute_90a: this architecture only
  expect_kernel(choose_ptx(image, 100), 100);  // compute_100f: this family only
  expect_kernel(choose_ptx(image, 103), 100);
  expect_kernel(choose_ptx(image, 120), 80);
}

TEST(FatBinary, SaysWhatItHoldsWhereNothingFits) {
  const PtxImage old = choose_ptx(load("several.fatbin"), 70);
  EXPECT_EQ(old.status, Status::kNoPtx);
  EXPECT_EQ(choose_ptx(load("zstd.fatbin"), 70).what,
            "the fat binary has no PTX that a device of compute capability 7.0 can run; it holds compute_75");
  EXPECT_EQ(choose_ptx(load("cubin_only.fatbin"), 120).status, Status::kNoPtx);
  EXPECT_EQ(choose_ptx(load("cubin_only.fatbin"), 120).what,
            "the fat binary has no PTX that a device of compute capability 12.0 can run; it holds sm_80");
}

TEST(FatBinary, AnEmptyOneHasNoPtx) {
  Bytes empty = load("raw.fatbin");
  empty.resize(kEntry);
  put<std::uint64_t>(empty, kBytes, 0);
  EXPECT_EQ(choose_ptx(empty, 75).status, Status::kNoPtx);
  EXPECT_EQ(choose_ptx_at(empty.data(), 75).status, Status::kNoPtx);
}

struct Wrapper {
  std::uint32_t magic = 0x466243b1, version = 1;
  const void* data = nullptr;
  const void* list = nullptr;
};

TEST(FatBinary, IsFoundThroughItsWrapper) {
  Bytes image = load("several.fatbin");
  const std::size_t size = image.size();
  image.resize(size + 64, 0xff);
  const Wrapper wrapper{.data = image.data()};
  EXPECT_EQ(image_kind(&wrapper), ImageKind::kWrapper);
  EXPECT_EQ(unwrap(&wrapper), image.data());
  EXPECT_EQ(unwrap(image.data()), image.data());
  EXPECT_EQ(image_bytes(&wrapper), sizeof wrapper);
  EXPECT_EQ(image_bytes(image.data()), size);
  expect_kernel(choose_ptx_at(&wrapper, 80), 80);
  expect_kernel(choose_ptx_at(image.data(), 75), 75);
}

TEST(FatBinary, AWrapperAroundNothingHasNoPtx) {
  const Wrapper empty;
  EXPECT_EQ(choose_ptx_at(&empty, 75).status, Status::kNoPtx);
  const Wrapper twice{.data = &empty};
  EXPECT_EQ(choose_ptx_at(&twice, 75).status, Status::kCorrupt);
}

TEST(Image, PlainTextIsItself) {
  const char text[] = ".version 9.0\n.target sm_80\n";
  EXPECT_EQ(image_kind(text), ImageKind::kText);
  EXPECT_EQ(image_bytes(text), sizeof text);
  const PtxImage image = choose_ptx_at(text, 75);
  EXPECT_EQ(image.status, Status::kFound);
  EXPECT_EQ(image.text, text);
  EXPECT_EQ(image.target, 0u);
  EXPECT_EQ(image_kind("//"), ImageKind::kText);
}

TEST(Image, ACubinHasNoPtx) {
  const Bytes cubin = load("kernel.cubin");
  EXPECT_EQ(image_kind(cubin.data()), ImageKind::kCubin);
  EXPECT_EQ(image_bytes(cubin.data()), cubin.size());
  EXPECT_EQ(choose_ptx(cubin, 80).status, Status::kNoPtx);
  EXPECT_EQ(choose_ptx_at(cubin.data(), 80).what, "a cubin has machine code and no PTX");
}

TEST(Image, AnythingElseIsCorrupt) {
  const Bytes bytes{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(image_kind(bytes.data()), ImageKind::kUnknown);
  EXPECT_EQ(image_bytes(bytes.data()), 0u);
  EXPECT_EQ(choose_ptx_at(bytes.data(), 75).status, Status::kCorrupt);
  EXPECT_EQ(choose_ptx(Bytes{}, 75).status, Status::kCorrupt);
}

TEST(FatBinary, NoTruncationIsTakenForWhole) {
  for (const char* name : {"raw.fatbin", "zstd.fatbin", "several.fatbin"}) {
    const Bytes image = load(name);
    for (std::size_t size = 0; size < image.size(); ++size) {
      const Bytes part(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_EQ(choose_ptx(part, 75).status, Status::kCorrupt) << name << " " << size;
    }
  }
}

TEST(FatBinary, DamagedHeadersAreCorrupt) {
  const auto damaged = [](auto value, std::size_t offset) {
    Bytes image = load("zstd.fatbin");
    put(image, offset, value);
    return choose_ptx(image, 75).status;
  };
  EXPECT_EQ(damaged(std::uint16_t{8}, 6), Status::kCorrupt);
  EXPECT_EQ(damaged(~std::uint64_t{0}, kBytes), Status::kCorrupt);
  EXPECT_EQ(damaged(std::uint32_t{0}, kHeaderBytes), Status::kCorrupt);
  EXPECT_EQ(damaged(~std::uint32_t{0}, kHeaderBytes), Status::kCorrupt);
  EXPECT_EQ(damaged(~std::uint64_t{0}, kPayloadBytes), Status::kCorrupt);
  EXPECT_EQ(damaged(~std::uint32_t{0}, kCompressed), Status::kCorrupt);
  EXPECT_EQ(damaged(std::uint32_t{5}, kCompressed), Status::kCorrupt);
  EXPECT_EQ(damaged(std::uint64_t{0x11}, kFlags), Status::kCorrupt);
  EXPECT_EQ(damaged(std::uint64_t{0x2011}, kFlags), Status::kCorrupt);
  EXPECT_EQ(damaged(~std::uint64_t{0}, kUncompressed), Status::kCorrupt);
  EXPECT_EQ(damaged(std::uint64_t{10}, kUncompressed), Status::kCorrupt);
}

TEST(FatBinary, EveryChangedByteEndsInAStatus) {
  const Bytes image = load("zstd.fatbin");
  for (std::size_t i = 0; i < image.size(); ++i) {
    Bytes changed = image;
    changed[i] ^= 0xff;
    const PtxImage result = choose_ptx(changed, 75);
    EXPECT_EQ(result.status == Status::kFound, !result.text.empty()) << i;
  }
}

}  // namespace
}  // namespace softgpu::ptx
