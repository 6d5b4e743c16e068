// Stream-ordered memory, managed memory's moves, and the driver's own entry points for the asking.
#include "tools/softgpu/cudart/call.hpp"

using namespace softgpu::cudart;

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  return in_context(
      [&] { return on_stream.cuMemAllocAsync(same_layout<CUdeviceptr>(pointer), size, stream); });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return in_context([&] {
    return on_stream.cuMemAllocFromPoolAsync(same_layout<CUdeviceptr>(pointer), size, pool, stream);
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return in_context([&] { return on_stream.cuMemFreeAsync(device_address(pointer), stream); });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t size, cudaMemLocation place, unsigned int flags,
                                 cudaStream_t stream) {
  return in_context([&] {
    return on_stream.cuMemPrefetchAsync(device_address(pointer), size, *same_layout<CUmemLocation>(&place),
                                        flags, stream);
  });
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned int version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  return in_driver([&] {
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const auto wanted = flags == cudaEnableDefault ? static_cast<unsigned long long>(kStreamFlag) : flags;
    const CUresult result =
        driver.get_proc_address(symbol, function, static_cast<int>(version), wanted, &found);
    if (status != nullptr) *status = static_cast<cudaDriverEntryPointQueryResult>(found);
    return result == CUDA_ERROR_NOT_FOUND ? CUDA_SUCCESS : result;
  });
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, status);
}
