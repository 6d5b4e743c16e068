// What every example does with an error: say it and end. Called everywhere in examples/. Thread rule: any
// thread. Failure rule: out of memory ends the program with code 2, anything else with code 1.
#pragma once

#include <cuda_runtime.h>

namespace examples {

inline constexpr int kExitOutOfMemory = 2;

[[noreturn]] void fail(cudaError_t error, const char* what);

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) fail(error, what);
}

// After a launch: whether it was accepted.
inline void launched(const char* kernel) { check(cudaGetLastError(), kernel); }

}  // namespace examples
