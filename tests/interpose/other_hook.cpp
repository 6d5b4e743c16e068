// Another preload that hooks dlsym, the way that is common: it asks for the next definition and forwards.
#include <dlfcn.h>

extern "C" __attribute__((visibility("default"))) void* dlsym(void* handle, const char* symbol) noexcept {
  using Dlsym = void* (*)(void*, const char*);
  static const auto next = reinterpret_cast<Dlsym>(dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5"));
  return next(handle, symbol);
}
