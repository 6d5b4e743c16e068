// What the doors must know of kernels between launches. Called by process.cpp at the start and by the doors
// that unload code. Thread rule: start_reading_kernels before the runtime is active; forget_kernels from any
// thread. Failure rule: nothing here fails.
#pragma once

#include "src/driver/driver.hpp"

namespace tencache::doors {

void start_reading_kernels(const Driver& driver) noexcept;

// Around every call that unloads a module: function handles may come again as other functions.
void forget_kernels() noexcept;

}  // namespace tencache::doors
