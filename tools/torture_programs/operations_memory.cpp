// Allocation and freeing, the calls that must fail, and the queries.
#include "tools/torture_programs/operations.hpp"

namespace torture {
namespace {

constexpr CUdeviceptr kWildAddress = 0x123456000;

}  // namespace

void Operations::perform(Executor& x, const Operation& o) {
  static constexpr void (*kPerform[])(Executor&, const Operation&) = {
#define X(kind, weight, what) &Operations::kind,
#include "tools/torture_programs/operations.def"
#undef X
  };
  kPerform[static_cast<std::size_t>(o.kind)](x, o);
}

void Operations::kAllocate(Executor& x, const Operation& o) {
  const std::uint32_t bytes = draw_bytes(o.operands[0], x.shape_.largest);
  if (!x.has_room(bytes)) return;
  CUdeviceptr base = 0;
  const CUresult result = cuMemAlloc(&base, bytes);
  x.line(o, result);
  if (result == CUDA_SUCCESS) x.first_write(x.add_buffer(base, bytes), x.stream_of(o.operands[1]), o);
}

void Operations::kAllocatePitch(Executor& x, const Operation& o) {
  const std::uint32_t width = 4 + o.operands[0] % 3000, height = 1 + o.operands[1] % 40;
  CUdeviceptr base = 0;
  std::size_t pitch = 0;
  if (!x.has_room((width + 512) * height)) return;
  const CUresult result = cuMemAllocPitch(&base, &pitch, width, height, 4u << (o.operands[2] % 3));
  x.line(o, result, pitch);
  if (result != CUDA_SUCCESS) return;
  x.first_write(x.add_buffer(base, static_cast<std::uint32_t>(pitch * height / 4 * 4)),
                x.stream_of(o.operands[3]), o);
}

void Operations::kAllocateAsync(Executor& x, const Operation& o) {
  const std::uint32_t bytes = draw_bytes(o.operands[0], x.shape_.largest);
  if (!x.has_room(bytes)) return;
  const std::size_t stream = x.stream_of(o.operands[1]);
  CUdeviceptr base = 0;
  const CUresult result = cuMemAllocAsync(&base, bytes, x.streams_[stream]);
  x.line(o, result);
  if (result != CUDA_SUCCESS) return;
  x.first_write(x.add_buffer(base, bytes), stream, o);
}

void Operations::finish_free(Executor& x, std::size_t buffer) {
  x.live_bytes_ -= x.buffers_[buffer].bytes;
  x.buffers_[buffer].bytes = 0;
}

void Operations::kFree(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  x.line(o, cuMemFree(x.buffers_[buffer].base));
  finish_free(x, buffer);
}

void Operations::kFreeAsync(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const std::size_t stream = x.stream_of(o.operands[1]);
  x.order(stream, {}, {buffer});
  x.line(o, cuMemFreeAsync(x.buffers_[buffer].base, x.streams_[stream]));
  finish_free(x, buffer);
}

void Operations::kAddressRange(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const Buffer& b = x.buffers_[buffer];
  CUdeviceptr base = 0;
  std::size_t size = 0;
  CUresult result = cuMemGetAddressRange(&base, &size, b.base + o.operands[1] % b.bytes);
  x.line(o, result, (b.base - base) ^ (size << 8));
  result = cuMemGetAddressRange(nullptr, &size, b.base);
  x.line(o, result, size);
}

void Operations::kPointerAttributes(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const Buffer& b = x.buffers_[buffer];
  const CUdeviceptr address = b.base + o.operands[1] % b.bytes;
  unsigned type = 0;
  CUresult result = cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
  x.line(o, result, type);
  int ordinal = -1;
  result = cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
  x.line(o, result, static_cast<std::uint64_t>(ordinal));
  CUdeviceptr start = 0;
  result = cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address);
  x.line(o, result, b.base - start);
  std::size_t size = 0;
  result = cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address);
  x.line(o, result, size);
}

void Operations::kFreeInterior(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer != kNone) x.line(o, cuMemFree(x.buffers_[buffer].base + 4));
}

void Operations::kFreeTwice(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const CUdeviceptr base = x.buffers_[buffer].base;
  x.line(o, cuMemFree(base));
  finish_free(x, buffer);
  x.line(o, cuMemFree(base));
}

void Operations::kFreeNull(Executor& x, const Operation& o) { x.line(o, cuMemFree(0)); }

void Operations::kAllocateZero(Executor& x, const Operation& o) {
  CUdeviceptr base = 0;
  x.line(o, cuMemAlloc(&base, 0));
}

void Operations::kAllocateHuge(Executor& x, const Operation& o) {
  CUdeviceptr base = 0;
  x.line(o, cuMemAlloc(&base, std::size_t{1} << 44));
}

void Operations::kCopyFreed(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const CUdeviceptr base = x.buffers_[buffer].base;
  cuMemFree(base);
  finish_free(x, buffer);
  std::uint32_t word = 0;
  x.line(o, cuMemcpyDtoH(&word, base, sizeof word));
}

void Operations::kCopyWild(Executor& x, const Operation& o) {
  std::uint32_t word = 0;
  x.line(o, cuMemcpyDtoH(&word, kWildAddress, sizeof word));
  x.line(o, cuMemcpyHtoD(kWildAddress, &word, sizeof word));
  x.line(o, cuMemsetD32(kWildAddress, 0, 1));
}

void Operations::kCopyBeyond(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  static std::uint8_t everything[64];
  // Far past the end: past any rounding of an allocation to the granularity.
  x.line(o, cuMemcpyDtoH(everything, x.buffers_[buffer].base + (std::uint64_t{1} << 43), sizeof everything));
}

}  // namespace torture
