// Which codes of the driver mean that a context is beyond help: CUDA's documentation says of these that the
// process must end to go on with CUDA. Called by vmm. Thread rule: pure. Failure rule: none.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <array>

namespace tencache {

inline constexpr std::array kStickyErrors{
    CUDA_ERROR_ILLEGAL_ADDRESS,
    CUDA_ERROR_LAUNCH_TIMEOUT,
    CUDA_ERROR_ASSERT,
    CUDA_ERROR_HARDWARE_STACK_ERROR,
    CUDA_ERROR_ILLEGAL_INSTRUCTION,
    CUDA_ERROR_MISALIGNED_ADDRESS,
    CUDA_ERROR_INVALID_ADDRESS_SPACE,
    CUDA_ERROR_INVALID_PC,
    CUDA_ERROR_LAUNCH_FAILED,
    CUDA_ERROR_CONTEXT_IS_DESTROYED,
    CUDA_ERROR_ECC_UNCORRECTABLE,
    CUDA_ERROR_NVLINK_UNCORRECTABLE,
    CUDA_ERROR_CONTAINED,
    CUDA_ERROR_TENSOR_MEMORY_LEAK,
};

constexpr bool is_sticky(CUresult code) {
  return std::find(kStickyErrors.begin(), kStickyErrors.end(), code) != kStickyErrors.end();
}

}  // namespace tencache
