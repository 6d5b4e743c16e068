// From a module image to its PTX text.
#include <cstdio>

#include "tools/softgpu/driver/device_attributes.hpp"
#include "tools/softgpu/driver/modules.hpp"
#include "tools/softgpu/ptx/fatbin.hpp"

namespace softgpu {

CUresult image_text(const void* image, std::string* text) {
  ptx::PtxImage found = ptx::choose_ptx_at(image, kComputeCapabilityMajor * 10 + kComputeCapabilityMinor);
  if (found.status == ptx::PtxImage::Status::kFound) {
    *text = std::move(found.text);
    return CUDA_SUCCESS;
  }
  std::fprintf(stderr, "softgpu: %s\n", found.what.c_str());
  return found.status == ptx::PtxImage::Status::kNoPtx ? CUDA_ERROR_NO_BINARY_FOR_GPU
                                                       : CUDA_ERROR_INVALID_IMAGE;
}

}  // namespace softgpu
