// How every runtime function is made: `in_context` loads the driver, sees to a current context, runs the body
// and remembers a failure for cudaGetLastError. Called by every file that defines runtime functions. Thread
// rule: the last error and the chosen device belong to the thread. Failure rule: a body returns the driver's
// or the runtime's code; both number the same errors alike.
#pragma once

#include "tools/softgpu/cudart/entry_points.hpp"

namespace softgpu::cudart {

inline cudaError_t to_runtime(CUresult result) { return static_cast<cudaError_t>(result); }
inline cudaError_t to_runtime(cudaError_t error) { return error; }

// Remembers `error` as the thread's last, if it is one, and returns it.
cudaError_t remember(cudaError_t error);

// The thread's device becomes usable: its primary context is current, unless the program made another so.
cudaError_t use_context();

// Loads the driver, and nothing more.
template <class Body>
cudaError_t in_driver(Body body) {
  cudaError_t error = load_driver();
  if (error == cudaSuccess) error = to_runtime(body());
  return remember(error);
}

template <class Body>
cudaError_t in_context(Body body) {
  return in_driver([&]() -> cudaError_t {
    const cudaError_t error = use_context();
    return error == cudaSuccess ? to_runtime(body()) : error;
  });
}

inline CUdeviceptr device_address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

// Enums and structs that the two headers declare twice with the same layout.
template <class To, class From>
To* same_layout(From* from) {
  static_assert(sizeof(To) == sizeof(From));  // NOLINT(bugprone-sizeof-expression)
  return reinterpret_cast<To*>(from);
}
template <class To, class From>
const To* same_layout(const From* from) {
  static_assert(sizeof(To) == sizeof(From));  // NOLINT(bugprone-sizeof-expression)
  return reinterpret_cast<const To*>(from);
}

}  // namespace softgpu::cudart
