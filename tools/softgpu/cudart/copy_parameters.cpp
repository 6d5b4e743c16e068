#include "tools/softgpu/cudart/copy_parameters.hpp"

namespace softgpu::cudart {
namespace {

CUmemorytype source_type(cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault) return CU_MEMORYTYPE_UNIFIED;
  const bool host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice;
  return host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

CUmemorytype destination_type(cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault) return CU_MEMORYTYPE_UNIFIED;
  const bool host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost;
  return host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

}  // namespace

CUDA_MEMCPY2D copy_2d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                      size_t height, cudaMemcpyKind kind) {
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = source_type(kind);
  copy.srcHost = from;
  copy.srcDevice = device_address(from);
  copy.srcPitch = from_pitch;
  copy.dstMemoryType = destination_type(kind);
  copy.dstHost = to;
  copy.dstDevice = device_address(to);
  copy.dstPitch = to_pitch;
  copy.WidthInBytes = width;
  copy.Height = height;
  return copy;
}

CUresult copy_3d(const cudaMemcpy3DParms& parameters, CUDA_MEMCPY3D* copy) {
  if (parameters.srcArray != nullptr || parameters.dstArray != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  *copy = {};
  copy->srcXInBytes = parameters.srcPos.x;
  copy->srcY = parameters.srcPos.y;
  copy->srcZ = parameters.srcPos.z;
  copy->srcMemoryType = source_type(parameters.kind);
  copy->srcHost = parameters.srcPtr.ptr;
  copy->srcDevice = device_address(parameters.srcPtr.ptr);
  copy->srcPitch = parameters.srcPtr.pitch;
  copy->srcHeight = parameters.srcPtr.ysize;
  copy->dstXInBytes = parameters.dstPos.x;
  copy->dstY = parameters.dstPos.y;
  copy->dstZ = parameters.dstPos.z;
  copy->dstMemoryType = destination_type(parameters.kind);
  copy->dstHost = parameters.dstPtr.ptr;
  copy->dstDevice = device_address(parameters.dstPtr.ptr);
  copy->dstPitch = parameters.dstPtr.pitch;
  copy->dstHeight = parameters.dstPtr.ysize;
  copy->WidthInBytes = parameters.extent.width;
  copy->Height = parameters.extent.height;
  copy->Depth = parameters.extent.depth;
  return CUDA_SUCCESS;
}

}  // namespace softgpu::cudart
