// Streams and events as objects. What orders work on a stream is in stream/order.cpp.
#include "tools/softgpu/cudart/call.hpp"

using namespace softgpu::cudart;

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return in_context([&] { return driver.cuStreamCreate(stream, flags); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  return in_context([&] { return driver.cuStreamCreateWithPriority(stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return in_context([&] { return driver.cuStreamDestroy(stream); });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return in_driver(
      [&] { return driver.cuThreadExchangeStreamCaptureMode(same_layout<CUstreamCaptureMode>(mode)); });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return in_context([&] { return driver.cuEventCreate(event, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return in_context([&] { return driver.cuEventDestroy(event); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return in_context([&] { return driver.cuEventQuery(event); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return in_context([&] { return driver.cuEventSynchronize(event); });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return in_context([&] { return driver.cuEventElapsedTime(milliseconds, start, end); });
}
