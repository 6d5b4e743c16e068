// The entry points that a program compiled for per-thread default streams gets. Called by the operations.
// Thread rule: any thread. Failure rule: null when the driver has no such form.
#pragma once

#include <cuda.h>

namespace torture {

template <class Function>
Function per_thread(Function, const char* name) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult status{};
  cuGetProcAddress(name, &found, 7000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status);
  return reinterpret_cast<Function>(found);
}

}  // namespace torture
