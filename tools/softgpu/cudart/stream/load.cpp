// The stream table of this file's flavour.
#include <algorithm>

#include "tools/softgpu/cudart/load_entry_points.hpp"

namespace softgpu::cudart {
inline namespace
#if defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)
    per_thread
#else
    legacy
#endif
{

StreamEntryPoints on_stream;

void load_stream_entry_points() {
  // The per-thread forms came with CUDA 7.0, whatever the version of the legacy form.
  constexpr int kFirstVersion = kStreamFlag == CU_GET_PROC_ADDRESS_DEFAULT ? 0 : 7000;
#define CUDART_LOAD_STREAM(name, version) \
  CUDART_LOAD(on_stream.name, #name, std::max(version, kFirstVersion), kStreamFlag)
  CUDART_STREAM_ENTRY_POINTS(CUDART_LOAD_STREAM)
#undef CUDART_LOAD_STREAM
}

}  // namespace per_thread
}  // namespace softgpu::cudart
