// The search for the genuine driver: the order of places, and a loader's cache that may be damaged.
#include "interpose/find_driver.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

using tencache::interpose::find_driver;
using tencache::interpose::find_in_loader_cache;

struct Tried {
  std::vector<std::string> paths;
  std::string accepts;
};

bool accept(void* context, const char* path) {
  auto* tried = static_cast<Tried*>(context);
  tried->paths.emplace_back(path);
  return path == tried->accepts;
}

constexpr std::array<const char*, 2> kFolders{"/usual/a", "/usual/b"};

TEST(FindDriver, AnOverrideIsTheOnlyPlace) {
  Tried tried;
  EXPECT_FALSE(find_driver({"/my/driver.so", "/x", nullptr, kFolders}, {accept, &tried}));
  EXPECT_EQ(tried.paths, std::vector<std::string>{"/my/driver.so"});
}

TEST(FindDriver, LibraryPathThenUsualFolders) {
  Tried tried;
  EXPECT_FALSE(find_driver({"", "/x:/y;/z::", nullptr, kFolders}, {accept, &tried}));
  const std::vector<std::string> expected{"/x/libcuda.so.1",       "/y/libcuda.so.1",
                                          "/z/libcuda.so.1",       "./libcuda.so.1",
                                          "/usual/a/libcuda.so.1", "/usual/b/libcuda.so.1"};
  EXPECT_EQ(tried.paths, expected);
}

TEST(FindDriver, TheFirstAcceptedEndsTheSearch) {
  Tried tried{{}, "/y/libcuda.so.1"};
  EXPECT_TRUE(find_driver({nullptr, "/x:/y:/z", nullptr, kFolders}, {accept, &tried}));
  EXPECT_EQ(tried.paths.size(), 2u);
}

TEST(FindDriver, AFolderNameTooLongIsPassedOver) {
  Tried tried;
  const std::string path = std::string(5000, 'a') + ":/y";
  EXPECT_FALSE(find_driver({nullptr, path.c_str(), nullptr, {}}, {accept, &tried}));
  EXPECT_EQ(tried.paths, std::vector<std::string>{"/y/libcuda.so.1"});
}

// A cache file as ldconfig writes it, for the entries given.
class Cache {
 public:
  struct Entry {
    std::int32_t flags;
    std::string name;
    std::string path;
  };

  explicit Cache(const std::vector<Entry>& entries) {
    std::string strings;
    std::string table;
    const auto strings_start = static_cast<std::uint32_t>(48 + 24 * entries.size());
    for (const Entry& entry : entries) {
      append(&table, entry.flags);
      append(&table, static_cast<std::uint32_t>(strings_start + strings.size()));
      strings += entry.name + '\0';
      append(&table, static_cast<std::uint32_t>(strings_start + strings.size()));
      strings += entry.path + '\0';
      append(&table, std::uint32_t{0});
      append(&table, std::uint64_t{0});
    }
    bytes_ = "glibc-ld.so.cache1.1";
    append(&bytes_, static_cast<std::uint32_t>(entries.size()));
    append(&bytes_, static_cast<std::uint32_t>(strings.size()));
    bytes_ += std::string(20, '\0') + table + strings;
  }

  void put_old_format_before() {
    std::string old = "ld.so-1.7.0";
    old += '\0';
    append(&old, std::uint32_t{1});
    old += std::string(12, 'x');
    old += std::string((8 - old.size() % 8) % 8, '\0');
    bytes_ = old + bytes_;
  }
  void cut(std::size_t size) { bytes_.resize(size); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

  [[nodiscard]] std::vector<std::string> search() const {
    std::array<char, 32> name{"/tmp/loader_cache_XXXXXX"};
    const int file = mkstemp(name.data());
    EXPECT_EQ(write(file, bytes_.data(), bytes_.size()), static_cast<ssize_t>(bytes_.size()));
    close(file);
    Tried tried;
    find_in_loader_cache(name.data(), "libcuda.so.1", {accept, &tried});
    std::remove(name.data());
    return tried.paths;
  }

 private:
  template <class T>
  static void append(std::string* bytes, T value) {
    bytes->append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  std::string bytes_;
};

const std::vector<Cache::Entry> kEntries{{0x0303, "libcuda.so.1", "/lib/libcuda.so.1"},
                                         {0x0003, "libcuda.so.1", "/lib32/libcuda.so.1"},
                                         {0x0303, "libcuda.so", "/lib/libcuda.so"},
                                         {0x0303, "libcuda.so.1", "/other/libcuda.so.1"}};
const std::vector<std::string> kExpected{"/lib/libcuda.so.1", "/other/libcuda.so.1"};

TEST(LoaderCache, EntriesOfThisMachinesKind) { EXPECT_EQ(Cache(kEntries).search(), kExpected); }

TEST(LoaderCache, BehindTheOlderFormat) {
  Cache cache(kEntries);
  cache.put_old_format_before();
  EXPECT_EQ(cache.search(), kExpected);
}

TEST(LoaderCache, CutAnywhereItGivesNoWrongPath) {
  const std::size_t whole = Cache(kEntries).size();
  for (std::size_t size = 0; size < whole; ++size) {
    Cache cache(kEntries);
    cache.cut(size);
    for (const std::string& path : cache.search()) {
      EXPECT_TRUE(path == kExpected[0] || path == kExpected[1]) << size;
    }
  }
}

TEST(LoaderCache, AMissingFileHasNoEntries) {
  Tried tried;
  EXPECT_FALSE(find_in_loader_cache("/no/such/cache", "libcuda.so.1", {accept, &tried}));
  EXPECT_FALSE(find_in_loader_cache(nullptr, "libcuda.so.1", {accept, &tried}));
}

}  // namespace
