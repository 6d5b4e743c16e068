// What the cases of tools/bench share: a device, kernels of their own, answers on standard output as lines of
// `name, value, unit` parted by tabs. Thread rule: one thread. Failure rule: Gpu::must().
#pragma once

#include "tools/gpu_check/gpu.hpp"

namespace bench {

// Loads PTX and gives its only kernel.
inline gpu_check::Function load_kernel(const gpu_check::Gpu& gpu, const char* ptx, const char* name) {
  gpu_check::Module module = nullptr;
  gpu_check::Function function = nullptr;
  gpu.must("cuModuleLoadData", gpu.api.cuModuleLoadData(&module, ptx));
  gpu.must("cuModuleGetFunction", gpu.api.cuModuleGetFunction(&function, module, name));
  return function;
}

}  // namespace bench
