// One-dimensional copies, and copies to and from symbols.
#include "tools/softgpu/cudart/call.hpp"
#include "tools/softgpu/cudart/registry.hpp"

using namespace softgpu::cudart;

namespace {

CUresult copy(void* to, const void* from, size_t count, cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return on_stream.cuMemcpyHtoD(device_address(to), from, count);
    case cudaMemcpyDeviceToHost:
      return on_stream.cuMemcpyDtoH(to, device_address(from), count);
    case cudaMemcpyDeviceToDevice:
      return on_stream.cuMemcpyDtoD(device_address(to), device_address(from), count);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
      return on_stream.cuMemcpy(device_address(to), device_address(from), count);
  }
  return static_cast<CUresult>(cudaErrorInvalidMemcpyDirection);
}

CUresult copy_async(void* to, const void* from, size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return on_stream.cuMemcpyHtoDAsync(device_address(to), from, count, stream);
    case cudaMemcpyDeviceToHost:
      return on_stream.cuMemcpyDtoHAsync(to, device_address(from), count, stream);
    case cudaMemcpyDeviceToDevice:
      return on_stream.cuMemcpyDtoDAsync(device_address(to), device_address(from), count, stream);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
      return on_stream.cuMemcpyAsync(device_address(to), device_address(from), count, stream);
  }
  return static_cast<CUresult>(cudaErrorInvalidMemcpyDirection);
}

// Runs `body` with the address `offset` bytes into the symbol, if `count` bytes fit there.
template <class Body>
cudaError_t with_symbol(const void* symbol, size_t count, size_t offset, Body body) {
  return in_context([&]() -> cudaError_t {
    CUdeviceptr address = 0;
    size_t size = 0;
    const cudaError_t error = variable_of(symbol, &address, &size);
    if (error != cudaSuccess) return error;
    if (offset > size || count > size - offset) return cudaErrorInvalidValue;
    return to_runtime(body(reinterpret_cast<void*>(address + offset)));
  });
}

}  // namespace

cudaError_t cudaMemcpy(void* to, const void* from, size_t count, cudaMemcpyKind kind) {
  return in_context([&] { return copy(to, from, count, kind); });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return in_context([&] { return copy_async(to, from, count, kind, stream); });
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t count, size_t offset,
                               cudaMemcpyKind kind) {
  return with_symbol(symbol, count, offset, [&](void* to) { return copy(to, from, count, kind); });
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t count, size_t offset,
                                 cudaMemcpyKind kind) {
  return with_symbol(symbol, count, offset, [&](void* from) { return copy(to, from, count, kind); });
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t count, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return with_symbol(symbol, count, offset,
                     [&](void* to) { return copy_async(to, from, count, kind, stream); });
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t count, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return with_symbol(symbol, count, offset,
                     [&](void* from) { return copy_async(to, from, count, kind, stream); });
}
