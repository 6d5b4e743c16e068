#include "tools/softgpu/engine/kernels/kernels.hpp"

namespace softgpu::engine {

const Kernels& kernels_here() {
  static const Kernels& best =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
          ? kernels_v4()
      : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? kernels_v3()
                                                                        : kernels_baseline();
  return best;
}

}  // namespace softgpu::engine
