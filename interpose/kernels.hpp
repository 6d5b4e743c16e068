// What the doors must know of kernels between launches. Called by process.cpp at the start, by the doors that
// unload code and by who reads graphs. Thread rule: start_reading_kernels before the runtime is active;
// forget_kernels from any thread. Failure rule: nothing here fails.
#pragma once

#include "interpose/parameters.hpp"
#include "src/driver/driver.hpp"

namespace tencache::doors {

void start_reading_kernels(const Driver& driver) noexcept;

// Around every call that unloads a module: function handles may come again as other functions.
void forget_kernels() noexcept;

// A kernel's arguments as a graph has them, word for word; false: they could not be read.
bool read_kernel_parameters(CUfunction function, void** parameters, void** extra, const runtime::Arena& arena,
                            PointerList* pointers) noexcept;

}  // namespace tencache::doors
