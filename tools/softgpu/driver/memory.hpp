// Device memory of the driver API: what cuMemAlloc and its kin share. Called by the memory, pool and module
// entry points. Thread rule: any thread. Failure rule: CUresult.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "tools/softgpu/driver/context.hpp"

namespace softgpu {

CUresult allocate_device(Context& context, Range::Kind kind, std::uint64_t bytes, std::uint64_t* address,
                         void* pool = nullptr);
// Takes away an allocation, pinned memory included, without waiting for anything.
void release_memory(std::uint64_t address);
// Forgets the functions of a context that is going; its memory is released with the rest.
void release_modules(CUcontext context);

}  // namespace softgpu
