// Once exit has begun: handlers that the program registered before its first CUDA call run after ours, and
// find the doors passive. Ends with 0 when all was as it must be.
#include <unistd.h>

#include "tests/interpose/doors_fixture.hpp"

namespace {

using doors_test::calls;
using doors_test::kArena;
using doors_test::the_runtime;

void check_at_exit() {
  CUdeviceptr address = 0;
  const unsigned allocations = calls("cuMemAlloc_v2");
  const unsigned frees = calls("cuMemFree_v2");
  stub_set_result("cuMemFree_v2", CUDA_ERROR_DEINITIALIZED);
  const bool told_once = the_runtime().passive == 1;
  const bool to_driver = DOOR(cuMemAlloc_v2)(&address, 8) == CUDA_SUCCESS && the_runtime().requests.empty() &&
                         calls("cuMemAlloc_v2") == allocations + 1;
  const bool left_alone =
      DOOR(cuMemFree_v2)(kArena + 4096) == CUDA_ERROR_DEINITIALIZED && calls("cuMemFree_v2") == frees + 1;
  _exit(told_once && to_driver && left_alone ? 0 : 1);
}

}  // namespace

int main() {
  std::atexit(check_at_exit);
  doors_test::adopt_test_driver();
  if (DOOR(cuInit)(0) != CUDA_SUCCESS) return 2;
  return 3;  // replaced by the check
}
