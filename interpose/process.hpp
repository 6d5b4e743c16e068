// The life of the doors in a process: started at the first successful cuInit, passive in a forked child and
// once exit has begun. Called by the handlers. Thread rule: from any thread. Failure rule: where the runtime
// cannot be started everything passes through.
#pragma once

#include <cuda.h>

#include "src/driver/driver.hpp"

namespace tencache::doors {

// The genuine entry points that we call ourselves; filled before the runtime is active.
const Driver& genuine_driver() noexcept;

// The address was in the arena of a runtime that has gone passive: nothing is done with it any more.
bool was_ours(CUdeviceptr address) noexcept;

}  // namespace tencache::doors
