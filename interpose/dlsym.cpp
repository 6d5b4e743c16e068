// Which function answers a dlsym or dlvsym. Names of the driver asked of a handle are ours to answer; all
// else, and above all RTLD_NEXT and RTLD_DEFAULT, is jumped on to with the caller in place.
#include <dlfcn.h>

#include "interpose/entry_points.hpp"
#include "interpose/genuine_driver.hpp"
#include "interpose/preload.hpp"
#include "src/driver/inside.hpp"

namespace tencache::interpose {

namespace {

bool is_ours_to_answer(void* handle, const char* symbol) noexcept {
  return is_driver_name(symbol) && handle != RTLD_DEFAULT && handle != RTLD_NEXT && inside_depth == 0;
}

// The genuine driver's answer to a name where ours stands in its place: null, and the loader's own message,
// where the driver has no such symbol.
void* as_the_driver_would(void* ours, const char* symbol) noexcept {
  const std::size_t index = exported_index(ours);
  if (index != kEntryPointCount && genuine_address(index) != nullptr) return ours;
  return genuine_dlsym()(genuine_handle(), symbol);
}

void* substitute(void* found) noexcept {
  const auto index = entry_point_at(found);
  return index ? entry_point(*index) : found;
}

// The genuine driver opened by its path, or a library whose names only begin alike: then no driver is looked
// for.
void* answer_of_another_library(void* found, const char* symbol) noexcept {
  return find_entry_point(symbol) && ensure_driver() ? substitute(found) : found;
}

// Whether the handle's scope holds us in the driver's place.
bool stands_for_us(void* handle) noexcept {
  void* const init = genuine_dlsym()(handle, "cuInit");
  return init != nullptr && exported_index(init) != kEntryPointCount;
}

void* answer_dlsym(void* handle, const char* symbol) noexcept {
  void* const found = genuine_dlsym()(handle, symbol);
  const bool ours = found != nullptr && exported_index(found) != kEntryPointCount;
  if (!ours && found != nullptr) return answer_of_another_library(found, symbol);
  // Asked again, so that the loader's message is about this symbol.
  if (found == nullptr && !stands_for_us(handle)) return genuine_dlsym()(handle, symbol);
  if (!ensure_driver()) return ours ? found : genuine_dlsym()(handle, symbol);
  return as_the_driver_would(found, symbol);
}

void* answer_dlvsym(void* handle, const char* symbol, const char* version) noexcept {
  void* const found = genuine_dlvsym()(handle, symbol, version);
  if (found == nullptr || exported_index(found) != kEntryPointCount || !ensure_driver()) return found;
  return substitute(found);
}

}  // namespace

extern "C" void* tencache_dlsym_for(void* handle, const char* symbol) noexcept {
  if (is_ours_to_answer(handle, symbol)) return reinterpret_cast<void*>(&answer_dlsym);
  return reinterpret_cast<void*>(genuine_dlsym());
}

extern "C" void* tencache_dlvsym_for(void* handle, const char* symbol, const char*) noexcept {
  if (is_ours_to_answer(handle, symbol)) return reinterpret_cast<void*>(&answer_dlvsym);
  return reinterpret_cast<void*>(genuine_dlvsym());
}

}  // namespace tencache::interpose
