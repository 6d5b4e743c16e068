#include "tools/gpu_check/driver_api.hpp"

#include <dlfcn.h>

namespace gpu_check {

std::string DriverApi::open(const char* library_name) {
  void* library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return dlerror();
#define GPU_CHECK_LOOK_UP(symbol, parameters) \
  this->symbol = reinterpret_cast<decltype(this->symbol)>(dlsym(library, #symbol));
  GPU_CHECK_DRIVER_FUNCTIONS(GPU_CHECK_LOOK_UP)
#undef GPU_CHECK_LOOK_UP
  return cuInit == nullptr || cuMemCreate == nullptr
             ? std::string(library_name) + " is no driver, or an old one"
             : "";
}

std::string DriverApi::name_of(Status status) const {
  const char* name = nullptr;
  if (cuGetErrorName != nullptr) cuGetErrorName(status, &name);
  return name != nullptr ? name : "error " + std::to_string(status);
}

}  // namespace gpu_check
