#include "tools/tencache/preload.hpp"

#include <algorithm>
#include <filesystem>

namespace tencache::command {
namespace {

constexpr const char* kFromThisProgram[] = {
    "../../interpose/libtencache.so",  // build tree
    "../lib/tencache/libtencache.so",  // installed
    "../" TENCACHE_LIBDIR
    "/tencache/libtencache.so",  // installed where the system keeps libraries by machine
};

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return a == b || std::filesystem::equivalent(a, b, ignored);
}

}  // namespace

std::string find_library() {
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  for (const char* candidate : kFromThisProgram) {
    const std::filesystem::path path = self.parent_path() / candidate;
    if (std::filesystem::exists(path, failed)) return std::filesystem::canonical(path, failed).string();
  }
  return {};
}

std::vector<std::string> preload_entries(std::string_view value) {
  std::vector<std::string> entries;
  while (!value.empty()) {
    const std::size_t end = std::min(value.find_first_of(": "), value.size());
    if (end > 0) entries.emplace_back(value.substr(0, end));
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  return entries;
}

std::string with_library(std::string_view existing, const std::string& library) {
  const std::vector<std::string> entries = preload_entries(existing);
  const bool present = std::any_of(entries.begin(), entries.end(),
                                   [&](const std::string& entry) { return same_file(entry, library); });
  if (present) return std::string(existing);
  return entries.empty() ? library : library + ":" + std::string(existing);
}

}  // namespace tencache::command
