// What the tests that run under LD_PRELOAD share: the stub driver behind tencache, as seen from a program.
// Called by those tests. Thread rule: one thread. Failure rule: a look-up that must succeed stops the test.
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "tests/interpose/stub_driver.hpp"

namespace under_preload {

// Of the program's own: what a program that has never heard of tencache gets.
inline void* driver() { return dlopen("libcuda.so.1", RTLD_NOW); }

template <class Function>
Function look_up(void* handle, const char* symbol) {
  void* const found = dlsym(handle, symbol);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function>(found);
}

// The stub itself, by its path.
inline void* stub_handle() { return dlopen(std::getenv("STUB_DRIVER"), RTLD_NOW); }

template <class Function>
Function of_stub(const char* symbol) {
  return look_up<Function>(stub_handle(), symbol);
}

// The base name of the file that an address lies in.
inline std::string file_of(const void* address) {
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0) return "";
  const std::string path = info.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

inline bool is_ours(const void* address) { return file_of(address) == "libtencache.so"; }
inline bool is_stubs(const void* address) { return file_of(address) == "libcuda.so.1"; }

}  // namespace under_preload
