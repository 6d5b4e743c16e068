// What orders and asks about work on a stream: synchronise, wait, record, host functions, attributes.
#include "tools/softgpu/cudart/call.hpp"

using namespace softgpu::cudart;

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return in_context([&] { return on_stream.cuStreamSynchronize(stream); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return in_context([&] { return on_stream.cuStreamQuery(stream); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return in_context([&] { return on_stream.cuStreamWaitEvent(stream, event, flags); });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return in_context([&] { return on_stream.cuStreamGetFlags(stream, flags); });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return in_context([&] { return on_stream.cuStreamGetPriority(stream, priority); });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return in_context([&] { return on_stream.cuStreamGetId(stream, id); });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return in_context([&] { return on_stream.cuStreamGetDevice(stream, device); });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t destination, cudaStream_t source) {
  return in_context([&] { return on_stream.cuStreamCopyAttributes(destination, source); });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID id, cudaStreamAttrValue* value) {
  return in_context([&] {
    return on_stream.cuStreamGetAttribute(stream, static_cast<CUstreamAttrID>(id),
                                          same_layout<CUstreamAttrValue>(value));
  });
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID id,
                                   const cudaStreamAttrValue* value) {
  return in_context([&] {
    return on_stream.cuStreamSetAttribute(stream, static_cast<CUstreamAttrID>(id),
                                          same_layout<CUstreamAttrValue>(value));
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t length, unsigned int flags) {
  return in_context(
      [&] { return on_stream.cuStreamAttachMemAsync(stream, device_address(pointer), length, flags); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return in_context([&] { return on_stream.cuEventRecord(event, stream); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return in_context([&] { return on_stream.cuEventRecordWithFlags(event, stream, flags); });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return in_context([&] { return on_stream.cuLaunchHostFunc(stream, function, data); });
}

// The two callback types differ only in the enum that holds the same numbers.
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned int flags) {
  const auto converted = reinterpret_cast<CUstreamCallback>(reinterpret_cast<void*>(callback));
  return in_context([&] { return on_stream.cuStreamAddCallback(stream, converted, data, flags); });
}
