// What tests alone may ask of the engine: other CPU levels, and running with every register a vector, which
// must give the same bits. Thread rule and failure rule: engine.hpp.
#pragma once

#include "tools/softgpu/engine/engine.hpp"
#include "tools/softgpu/engine/kernels/kernels.hpp"

namespace softgpu::engine {

std::shared_ptr<Program> compile_with(std::string_view ptx, const Kernels& kernels, std::string* error);
// `scalars` false: no register is kept as base and stride.
Outcome run_with(const Launch& launch, bool scalars);

}  // namespace softgpu::engine
