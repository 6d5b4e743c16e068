#include "examples/common/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace examples {

void fail(cudaError_t error, const char* what) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(error == cudaErrorMemoryAllocation ? kExitOutOfMemory : EXIT_FAILURE);
}

}  // namespace examples
