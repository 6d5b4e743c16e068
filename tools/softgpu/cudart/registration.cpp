// The calls that nvcc's generated code makes. Their prototypes are in the toolkit's crt/host_runtime.h and
// crt/device_functions.h.
#include <vector>

#include "tools/softgpu/cudart/call.hpp"
#include "tools/softgpu/cudart/registry.hpp"

using namespace softgpu::cudart;

namespace {

// What a program's .nvFatBinSegment holds for each binary.
struct FatBinaryWrapper {
  unsigned int magic;
  unsigned int version;
  const void* data;
  void* list;
};

struct CallConfiguration {
  dim3 grid;
  dim3 block;
  size_t shared_bytes;
  cudaStream_t stream;
};

thread_local std::vector<CallConfiguration> call_configurations;

Binary* from_handle(void** handle) { return reinterpret_cast<Binary*>(handle); }

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are nvcc's
extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  return reinterpret_cast<void**>(add_binary(static_cast<FatBinaryWrapper*>(wrapper)->data));
}

// Loading waits for the first use.
void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) { remove_binary(from_handle(handle)); }

void __cudaRegisterFunction(void** handle, const char* host_function, char*, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  add_kernel(from_handle(handle), host_function, name);
}

void __cudaRegisterVar(void** handle, char* host_variable, char*, const char* name, int, size_t, int, int) {
  add_variable(from_handle(handle), host_variable, name);
}

void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*, const char* name, int, size_t, int,
                              int) {
  from_handle(handle)->managed.push_back({host_pointer, name});
  add_variable(from_handle(handle), static_cast<const void*>(host_pointer), name);
}

char __cudaInitModule(void** handle) {
  const cudaError_t error = in_context([&] { return from_handle(handle)->bind_managed(); });
  return error == cudaSuccess ? 1 : 0;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, CUstream_st* stream) {
  call_configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream) {
  if (call_configurations.empty()) return remember(cudaErrorMissingConfiguration);
  const CallConfiguration& top = call_configurations.back();
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  call_configurations.pop_back();
  return cudaSuccess;
}

// The handle is kept by the caller for ever, so it is the record, and what fails to load at the first launch
// is tried again at the next.
cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* host_function) {
  Kernel* const kernel = find_kernel(host_function);
  *handle = reinterpret_cast<cudaKernel_t>(kernel);
  return kernel == nullptr ? remember(cudaErrorInvalidDeviceFunction) : cudaSuccess;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
