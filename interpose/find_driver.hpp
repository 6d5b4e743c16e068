// Where the genuine driver library may lie, in the order in which the loader would look if we did not stand
// in its place. Called once by the preload, at the first driver call. Thread rule: any; no state. Failure
// rule: a place that is missing or unreadable is passed over.
#pragma once

#include <span>

namespace tencache::interpose {

inline constexpr const char* kDriverSoname = "libcuda.so.1";

struct SearchPlaces {
  const char* override_path;  // TENCACHE_REAL_LIBCUDA: then only this; null or empty: the rest
  const char* library_path;   // LD_LIBRARY_PATH, or null
  const char* cache_file;     // the loader's cache
  std::span<const char* const> folders;
};

std::span<const char* const> usual_driver_folders() noexcept;

// Called with each candidate until it returns true.
struct Visitor {
  bool (*accept)(void* context, const char* path);
  void* context;
};

// True when one was accepted.
bool find_driver(const SearchPlaces& places, const Visitor& visitor) noexcept;

// The paths that the loader's cache names for a library of this machine's kind.
bool find_in_loader_cache(const char* cache_file, const char* soname, const Visitor& visitor) noexcept;

}  // namespace tencache::interpose
