// Device memory of the driver API: what cuMemAlloc and its kin share. Called by the memory, pool and module
// entry points. Thread rule: any thread. Failure rule: CUresult.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "tools/softgpu/driver/context.hpp"

namespace softgpu {

// For `context`, on its device.
CUresult allocate_device(int device, CUcontext context, Range::Kind kind, std::uint64_t bytes,
                         std::uint64_t* address, void* pool = nullptr);
// Takes away an allocation, pinned memory included, without waiting for anything; only what satisfies
// `accept`.
std::optional<Range> release_memory(std::uint64_t address, const std::function<bool(const Range&)>& accept);
void release_memory(std::uint64_t address);
// Forgets the functions of a context that is going; its memory is released with the rest.
void release_modules(CUcontext context);

}  // namespace softgpu
