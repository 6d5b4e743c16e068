// The stream table of this file's flavour.
#include <iterator>

#include "tools/softgpu/cudart/entry_points.hpp"

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
  static const EntryPointRow kRows[] = {
#define CUDART_ROW(name, version) {#name, version, &on_stream.name, [] { return refuse_missing(#name); }},
      CUDART_STREAM_ENTRY_POINTS(CUDART_ROW)
#undef CUDART_ROW
  };
  load_rows(kRows, std::size(kRows), kStreamFlag);
}

}  // namespace per_thread
}  // namespace softgpu::cudart
