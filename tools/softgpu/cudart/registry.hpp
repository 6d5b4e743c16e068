// What nvcc's code registers before main: fat binaries, and the host addresses that stand for their kernels
// and variables. Called by the registration calls and by everything that takes a kernel or a symbol. Thread
// rule: any thread; one lock, not held across a driver call. Failure rule: the driver's code; a failed load
// is tried again at the next use.
//
// A binary is loaded at the first use of one of its kernels or variables (lazy loading).
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "tools/softgpu/cudart/entry_points.hpp"

namespace softgpu::cudart {

// A variable that lives in managed memory; `host_pointer` is how the program's own code reaches it.
struct ManagedVariable {
  void** host_pointer;
  std::string name;
};

struct Binary {
  const void* image = nullptr;
  std::vector<ManagedVariable> managed;
  std::mutex load_mutex;
  std::atomic<CUlibrary> library = nullptr;

  CUresult load(CUlibrary* loaded);
  // Gives the program's host code the addresses of the managed variables.
  CUresult bind_managed();
};

struct Kernel {
  Binary* binary = nullptr;
  std::string name;
  std::atomic<CUkernel> handle = nullptr;

  CUresult resolve(CUkernel* resolved);
};

struct Variable {
  Binary* binary = nullptr;
  std::string name;

  CUresult resolve(CUdeviceptr* address, size_t* size);
};

Binary* add_binary(const void* image);
void add_kernel(Binary* binary, const void* host_function, const char* name);
void add_variable(Binary* binary, const void* host_variable, const char* name);
// Forgets the binary and what was registered with it. It calls no driver: it runs while the process exits.
void remove_binary(Binary* binary);

// Null if the host address stands for nothing.
Kernel* find_kernel(const void* host_function);

// Whatever a program may pass as a kernel: a host function, or a handle it got from the runtime.
CUresult kernel_of(const void* function, CUkernel* kernel);
CUresult function_of(const void* function, CUfunction* result);
// cudaErrorInvalidSymbol if the host address stands for no variable.
cudaError_t variable_of(const void* symbol, CUdeviceptr* address, size_t* size);

}  // namespace softgpu::cudart
