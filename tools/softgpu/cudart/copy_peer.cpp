// Copies between devices. They have no per-thread twin.
#include "tools/softgpu/cudart/call.hpp"
#include "tools/softgpu/cudart/context.hpp"

using namespace softgpu::cudart;

namespace {

// Runs `body` with the two devices' contexts.
template <class Body>
cudaError_t between(int to, int from, Body body) {
  return in_context([&]() -> cudaError_t {
    CUcontext to_context = nullptr;
    CUcontext from_context = nullptr;
    CUresult result = primary_context(to, &to_context);
    if (result == CUDA_SUCCESS) result = primary_context(from, &from_context);
    return to_runtime(result == CUDA_SUCCESS ? body(to_context, from_context) : result);
  });
}

}  // namespace

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t count) {
  return between(to_device, from_device, [&](CUcontext to_context, CUcontext from_context) {
    return on_stream.cuMemcpyPeer(device_address(to), to_context, device_address(from), from_context, count);
  });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t count,
                                cudaStream_t stream) {
  return between(to_device, from_device, [&](CUcontext to_context, CUcontext from_context) {
    return on_stream.cuMemcpyPeerAsync(device_address(to), to_context, device_address(from), from_context,
                                       count, stream);
  });
}
