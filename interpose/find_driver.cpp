#include "interpose/find_driver.hpp"

#include <array>
#include <climits>
#include <cstring>
#include <string_view>

namespace tencache::interpose {

namespace {

constexpr std::array<const char*, 12> kUsualFolders{
    "/usr/lib/x86_64-linux-gnu",
    "/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/lib64",
    "/usr/lib",
    "/usr/lib/x86_64-linux-gnu/nvidia/current",
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",
    "/usr/local/cuda/compat",
    "/usr/local/cuda/lib64",
};

bool try_folder(std::string_view folder, const Visitor& visitor) {
  if (folder.empty()) folder = ".";  // as the loader takes it
  const std::string_view name = kDriverSoname;
  std::array<char, PATH_MAX> path;
  if (folder.size() + 1 + name.size() >= path.size()) return false;
  std::memcpy(path.data(), folder.data(), folder.size());
  path[folder.size()] = '/';
  std::memcpy(path.data() + folder.size() + 1, name.data(), name.size() + 1);
  return visitor.accept(visitor.context, path.data());
}

// Folders are separated by colons or semicolons.
bool try_library_path(std::string_view list, const Visitor& visitor) {
  while (!list.empty()) {
    const std::size_t end = list.find_first_of(":;");
    if (try_folder(list.substr(0, end), visitor)) return true;
    if (end == std::string_view::npos) return false;
    list.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace

std::span<const char* const> usual_driver_folders() noexcept { return kUsualFolders; }

bool find_driver(const SearchPlaces& places, const Visitor& visitor) noexcept {
  if (places.override_path != nullptr && *places.override_path != 0) {
    return visitor.accept(visitor.context, places.override_path);
  }
  if (places.library_path != nullptr && try_library_path(places.library_path, visitor)) return true;
  if (find_in_loader_cache(places.cache_file, kDriverSoname, visitor)) return true;
  for (const char* folder : places.folders) {
    if (try_folder(folder, visitor)) return true;
  }
  return false;
}

}  // namespace tencache::interpose
