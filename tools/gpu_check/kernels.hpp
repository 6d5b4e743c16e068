// The kernels as PTX, so that no compiler is needed where gpu-check runs. The driver compiles them when a
// question's process starts.
#pragma once

namespace gpu_check {

extern const char kKernels[];

// Blocks and threads of the kernels that pass over a buffer; each thread takes four 16-byte words a turn.
inline constexpr unsigned kPassThreads = 256;
inline constexpr unsigned kBlocksPerMultiprocessor = 8;
inline constexpr unsigned kBytesPerThreadTurn = 64;

}  // namespace gpu_check
