// cudaLibrary*: the driver's libraries under the runtime's names.
#include "tools/softgpu/cudart/call.hpp"

using namespace softgpu::cudart;

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption* jit_options,
                                void** jit_values, unsigned int jit_count, cudaLibraryOption* options,
                                void** values, unsigned int count) {
  return in_context([&] {
    return driver.cuLibraryLoadData(library, code, same_layout<CUjit_option>(jit_options), jit_values,
                                    jit_count, same_layout<CUlibraryOption>(options), values, count);
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path, cudaJitOption* jit_options,
                                    void** jit_values, unsigned int jit_count, cudaLibraryOption* options,
                                    void** values, unsigned int count) {
  return in_context([&] {
    return driver.cuLibraryLoadFromFile(library, path, same_layout<CUjit_option>(jit_options), jit_values,
                                        jit_count, same_layout<CUlibraryOption>(options), values, count);
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return in_context([&] { return driver.cuLibraryUnload(library); });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return in_context([&] { return driver.cuLibraryGetKernel(kernel, library, name); });
}

cudaError_t cudaLibraryGetGlobal(void** address, size_t* size, cudaLibrary_t library, const char* name) {
  return in_context(
      [&] { return driver.cuLibraryGetGlobal(same_layout<CUdeviceptr>(address), size, library, name); });
}

cudaError_t cudaLibraryGetManaged(void** address, size_t* size, cudaLibrary_t library, const char* name) {
  return in_context(
      [&] { return driver.cuLibraryGetManaged(same_layout<CUdeviceptr>(address), size, library, name); });
}

cudaError_t cudaLibraryGetUnifiedFunction(void** function, cudaLibrary_t library, const char* name) {
  return in_context([&] { return driver.cuLibraryGetUnifiedFunction(function, library, name); });
}

cudaError_t cudaLibraryGetKernelCount(unsigned int* count, cudaLibrary_t library) {
  return in_context([&] { return driver.cuLibraryGetKernelCount(count, library); });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned int count, cudaLibrary_t library) {
  return in_context([&] { return driver.cuLibraryEnumerateKernels(kernels, count, library); });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value,
                                            int device) {
  return in_context([&] {
    return driver.cuKernelSetAttribute(static_cast<CUfunction_attribute>(attribute), value, kernel, device);
  });
}
