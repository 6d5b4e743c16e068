// Two- and three-dimensional copies of pitched memory.
#include "tools/softgpu/cudart/copy_parameters.hpp"

using namespace softgpu::cudart;

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
  return in_context([&] {
    const CUDA_MEMCPY2D copy = copy_2d(to, to_pitch, from, from_pitch, width, height, kind);
    return on_stream.cuMemcpy2DUnaligned(&copy);
  });
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return in_context([&] {
    const CUDA_MEMCPY2D copy = copy_2d(to, to_pitch, from, from_pitch, width, height, kind);
    return on_stream.cuMemcpy2DAsync(&copy, stream);
  });
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return in_context([&] {
    CUDA_MEMCPY3D copy{};
    const CUresult result = copy_3d(*parameters, &copy);
    return result == CUDA_SUCCESS ? on_stream.cuMemcpy3D(&copy) : result;
  });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return in_context([&] {
    CUDA_MEMCPY3D copy{};
    const CUresult result = copy_3d(*parameters, &copy);
    return result == CUDA_SUCCESS ? on_stream.cuMemcpy3DAsync(&copy, stream) : result;
  });
}
