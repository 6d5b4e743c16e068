// What this runtime does not do, refused by name. The functions are called with whatever arguments their
// genuine prototypes have and look at none.
#include <cstdio>

#include <driver_types.h>

namespace softgpu::cudart {

cudaError_t remember(cudaError_t error);

namespace {

cudaError_t refuse(const char* name) {
  std::fprintf(stderr, "softgpu: %s is not supported\n", name);
  return remember(cudaErrorNotSupported);
}

}  // namespace
}  // namespace softgpu::cudart

#define CUDART_REFUSED(name) \
  extern "C" cudaError_t name() { return softgpu::cudart::refuse(#name); }
#include "tools/softgpu/cudart/refused.inc"
