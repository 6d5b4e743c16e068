// Kernels and symbols as objects: attributes, occupancy, handles, libraries.
#include "tools/softgpu/cudart/call.hpp"
#include "tools/softgpu/cudart/launch.hpp"
#include "tools/softgpu/cudart/registry.hpp"

using namespace softgpu::cudart;

namespace {

struct IntAttribute {
  int cudaFuncAttributes::*member;
  CUfunction_attribute attribute;
};

struct SizeAttribute {
  size_t cudaFuncAttributes::*member;
  CUfunction_attribute attribute;
};

constexpr IntAttribute kIntAttributes[] = {
    {&cudaFuncAttributes::maxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {&cudaFuncAttributes::numRegs, CU_FUNC_ATTRIBUTE_NUM_REGS},
    {&cudaFuncAttributes::ptxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION},
    {&cudaFuncAttributes::binaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION},
    {&cudaFuncAttributes::cacheModeCA, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA},
    {&cudaFuncAttributes::maxDynamicSharedSizeBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES},
    {&cudaFuncAttributes::preferredShmemCarveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT},
};

constexpr SizeAttribute kSizeAttributes[] = {
    {&cudaFuncAttributes::sharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES},
    {&cudaFuncAttributes::constSizeBytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES},
    {&cudaFuncAttributes::localSizeBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES},
};

// Runs `body` with the driver's function behind whatever the program passed.
template <class Body>
cudaError_t with_function(const void* kernel, Body body) {
  return in_context([&]() -> cudaError_t {
    CUfunction function = nullptr;
    const CUresult result = function_of(kernel, &function);
    return to_runtime(result == CUDA_SUCCESS ? body(function) : result);
  });
}

CUresult fill(cudaFuncAttributes* attributes, CUfunction function) {
  CUresult result = CUDA_SUCCESS;
  for (const auto& row : kIntAttributes) {
    if (result != CUDA_SUCCESS) return result;
    result = driver.cuFuncGetAttribute(&(attributes->*row.member), row.attribute, function);
  }
  for (const auto& row : kSizeAttributes) {
    if (result != CUDA_SUCCESS) return result;
    int value = 0;
    result = driver.cuFuncGetAttribute(&value, row.attribute, function);
    attributes->*row.member = static_cast<size_t>(value);
  }
  return result;
}

}  // namespace

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  *attributes = {};
  return with_function(kernel, [&](CUfunction function) { return fill(attributes, function); });
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return with_function(kernel, [&](CUfunction function) {
    return driver.cuFuncSetAttribute(function, static_cast<CUfunction_attribute>(attribute), value);
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache config) {
  return with_function(kernel, [&](CUfunction function) {
    return driver.cuFuncSetCacheConfig(function, static_cast<CUfunc_cache>(config));
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
  return with_function(kernel, [&](CUfunction function) { return driver.cuFuncGetName(name, function); });
}

cudaError_t cudaFuncGetParamInfo(const void* kernel, size_t index, size_t* offset, size_t* size) {
  return with_function(
      kernel, [&](CUfunction function) { return driver.cuFuncGetParamInfo(function, index, offset, size); });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel,
                                                                   int block_size, size_t shared_bytes,
                                                                   unsigned int flags) {
  return with_function(kernel, [&](CUfunction function) {
    return driver.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size,
                                                                       shared_bytes, flags);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int block_size,
                                                          size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, block_size, shared_bytes,
                                                                cudaOccupancyDefault);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* kernel, int blocks,
                                                      int block_size) {
  return with_function(kernel, [&](CUfunction function) {
    return driver.cuOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, block_size);
  });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* kernel,
                                                 const cudaLaunchConfig_t* config) {
  return with_function(kernel, [&](CUfunction function) {
    const CUlaunchConfig converted = to_driver(*config);
    return driver.cuOccupancyMaxPotentialClusterSize(size, function, &converted);
  });
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel,
                                           const cudaLaunchConfig_t* config) {
  return with_function(kernel, [&](CUfunction function) {
    const CUlaunchConfig converted = to_driver(*config);
    return driver.cuOccupancyMaxActiveClusters(clusters, function, &converted);
  });
}

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return in_context([&] {
    size_t size = 0;
    return variable_of(symbol, same_layout<CUdeviceptr>(pointer), &size);
  });
}

cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return in_context([&] {
    CUdeviceptr address = 0;
    return variable_of(symbol, &address, size);
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  return in_context([&] { return kernel_of(host_function, same_layout<CUkernel>(kernel)); });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* host_function) {
  return with_function(host_function, [&](CUfunction found) {
    *function = found;
    return CUDA_SUCCESS;
  });
}
