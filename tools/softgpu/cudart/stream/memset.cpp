// Memsets.
#include "tools/softgpu/cudart/call.hpp"

using namespace softgpu::cudart;

namespace {

// One call where the slices follow one another without a gap, else one a slice.
template <class Set>
CUresult each_slice(const cudaPitchedPtr& place, const cudaExtent& extent, Set set) {
  if (place.ysize == extent.height) return set(device_address(place.ptr), extent.height * extent.depth);
  CUresult result = CUDA_SUCCESS;
  for (size_t slice = 0; slice < extent.depth && result == CUDA_SUCCESS; ++slice) {
    result = set(device_address(place.ptr) + slice * place.pitch * place.ysize, extent.height);
  }
  return result;
}

}  // namespace

cudaError_t cudaMemset(void* pointer, int value, size_t count) {
  return in_context([&] {
    return on_stream.cuMemsetD8(device_address(pointer), static_cast<unsigned char>(value), count);
  });
}

cudaError_t cudaMemsetAsync(void* pointer, int value, size_t count, cudaStream_t stream) {
  return in_context([&] {
    return on_stream.cuMemsetD8Async(device_address(pointer), static_cast<unsigned char>(value), count,
                                     stream);
  });
}

cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return in_context([&] {
    return on_stream.cuMemsetD2D8(device_address(pointer), pitch, static_cast<unsigned char>(value), width,
                                  height);
  });
}

cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return in_context([&] {
    return on_stream.cuMemsetD2D8Async(device_address(pointer), pitch, static_cast<unsigned char>(value),
                                       width, height, stream);
  });
}

cudaError_t cudaMemset3D(cudaPitchedPtr place, int value, cudaExtent extent) {
  return in_context([&] {
    return each_slice(place, extent, [&](CUdeviceptr address, size_t rows) {
      return on_stream.cuMemsetD2D8(address, place.pitch, static_cast<unsigned char>(value), extent.width,
                                    rows);
    });
  });
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr place, int value, cudaExtent extent, cudaStream_t stream) {
  return in_context([&] {
    return each_slice(place, extent, [&](CUdeviceptr address, size_t rows) {
      return on_stream.cuMemsetD2D8Async(address, place.pitch, static_cast<unsigned char>(value),
                                         extent.width, rows, stream);
    });
  });
}
