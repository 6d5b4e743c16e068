// Copies and memsets.
#include <algorithm>
#include <cstring>
#include <vector>

#include "tools/torture_programs/operations.hpp"

namespace torture {
namespace {

// A part of a buffer, in whole words.
struct Part {
  std::uint32_t from, bytes;
};

Part part_of(const Buffer& b, std::uint32_t draw_from, std::uint32_t draw_size) {
  const std::uint32_t from = draw_from % b.count();
  return {from * 4, 4 * (1 + draw_size % (b.count() - from))};
}

void write_pattern(void* target, std::uint32_t bytes, std::uint32_t salt) {
  auto* words = static_cast<std::uint32_t*>(target);
  for (std::uint32_t i = 0; i < bytes / 4; ++i) words[i] = (i + salt) * 0x9e3779b1u;
}

}  // namespace

void Operations::kHostToDevice(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const Part part = part_of(x.buffers_[buffer], o.operands[1], o.operands[2]);
  std::vector<std::uint32_t> words(part.bytes / 4);
  write_pattern(words.data(), part.bytes, o.operands[3]);
  x.order(0, {}, {buffer});
  x.line(o, cuMemcpyHtoD(x.buffers_[buffer].base + part.from, words.data(), part.bytes));
}

void Operations::kHostToDeviceAsync(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const Part part = part_of(x.buffers_[buffer], o.operands[1], o.operands[2]);
  std::uint8_t* source = x.pinned(part.bytes);
  if (source == nullptr) return;
  write_pattern(source, part.bytes, o.operands[3]);
  const std::size_t stream = x.stream_of(o.operands[4]);
  x.order(stream, {}, {buffer});
  x.line(o, cuMemcpyHtoDAsync(x.buffers_[buffer].base + part.from, source, part.bytes, x.streams_[stream]));
}

void Operations::kHostToDevicePageable(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const Part part = part_of(x.buffers_[buffer], o.operands[1], o.operands[2]);
  std::vector<std::uint32_t> words(part.bytes / 4);
  write_pattern(words.data(), part.bytes, o.operands[3]);
  const std::size_t stream = x.stream_of(o.operands[4]);
  x.order(stream, {}, {buffer});
  x.line(o, cuMemcpyHtoDAsync(x.buffers_[buffer].base + part.from, words.data(), part.bytes,
                              x.streams_[stream]));
  cuStreamSynchronize(x.streams_[stream]);  // the source may be read until then
  x.completed(stream);
}

void Operations::kDeviceToHost(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const Part part = part_of(x.buffers_[buffer], o.operands[1], o.operands[2]);
  std::vector<std::uint8_t> bytes(part.bytes);
  x.order(0, {buffer}, {});
  const CUresult result = cuMemcpyDtoH(bytes.data(), x.buffers_[buffer].base + part.from, part.bytes);
  x.line(o, result, hash_bytes(bytes.data(), bytes.size()));
}

void Operations::kDeviceToHostAsync(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const Part part = part_of(x.buffers_[buffer], o.operands[1], o.operands[2]);
  std::uint8_t* target = x.pinned(part.bytes);
  if (target == nullptr) return;
  const std::size_t stream = x.stream_of(o.operands[3]);
  x.order(stream, {buffer}, {});
  x.line(o, cuMemcpyDtoHAsync(target, x.buffers_[buffer].base + part.from, part.bytes, x.streams_[stream]));
  x.readbacks_.push_back({o.number, o.kind, static_cast<std::size_t>(target - x.pinned_), part.bytes});
}

namespace {

// Two buffers and how much fits from one into the other.
struct Pair {
  std::size_t target, source;
  Part from, to;
};

}  // namespace

bool Operations::choose_pair(const Executor& x, const Operation& o, std::size_t* target,
                             std::size_t* source) {
  *target = x.data_buffer(o.operands[0]);
  if (*target == kNone) return false;
  *source = x.data_buffer(o.operands[1], std::uint64_t{1} << *target);
  return *source != kNone;
}

static bool pair_of(const Executor& x, const Operation& o, const std::vector<Buffer>& buffers, Pair* pair) {
  if (!Operations::choose_pair(x, o, &pair->target, &pair->source)) return false;
  pair->to = part_of(buffers[pair->target], o.operands[2], ~0u >> 1);
  pair->from = part_of(buffers[pair->source], o.operands[3], ~0u >> 1);
  pair->to.bytes = pair->from.bytes = std::min(pair->to.bytes, pair->from.bytes);
  return true;
}

void Operations::kDeviceToDevice(Executor& x, const Operation& o) {
  Pair p;
  if (!pair_of(x, o, x.buffers_, &p)) return;
  x.order(0, {p.source}, {p.target});
  x.line(o, cuMemcpyDtoD(x.buffers_[p.target].base + p.to.from, x.buffers_[p.source].base + p.from.from,
                         p.to.bytes));
}

void Operations::kDeviceToDeviceAsync(Executor& x, const Operation& o) {
  Pair p;
  if (!pair_of(x, o, x.buffers_, &p)) return;
  const std::size_t stream = x.stream_of(o.operands[4]);
  x.order(stream, {p.source}, {p.target});
  x.line(o, cuMemcpyDtoDAsync(x.buffers_[p.target].base + p.to.from, x.buffers_[p.source].base + p.from.from,
                              p.to.bytes, x.streams_[stream]));
}

void Operations::kUnified(Executor& x, const Operation& o) {
  Pair p;
  if (!pair_of(x, o, x.buffers_, &p)) return;
  x.order(0, {p.source}, {p.target});
  x.line(o, cuMemcpy(x.buffers_[p.target].base + p.to.from, x.buffers_[p.source].base + p.from.from,
                     p.to.bytes));
}

void Operations::kUnifiedAsync(Executor& x, const Operation& o) {
  Pair p;
  if (!pair_of(x, o, x.buffers_, &p)) return;
  const std::size_t stream = x.stream_of(o.operands[4]);
  x.order(stream, {p.source}, {p.target});
  x.line(o, cuMemcpyAsync(x.buffers_[p.target].base + p.to.from, x.buffers_[p.source].base + p.from.from,
                          p.to.bytes, x.streams_[stream]));
}

namespace {

struct Plane {
  std::size_t width, height, target_pitch, source_pitch;
};

// A rectangle of words that fits both buffers.
Plane plane_of(const Buffer& target, const Buffer& source, const Operation& o) {
  const std::uint32_t bytes = std::min(target.bytes, source.bytes);
  const std::uint32_t height = 1 + o.operands[2] % 8;
  const std::uint32_t pitch = bytes / height / 4 * 4;
  if (pitch < 4) return {4, 1, 4, 4};
  return {4 * (1 + o.operands[3] % (pitch / 4)), height, pitch, pitch};
}

}  // namespace

void Operations::kCopy2D(Executor& x, const Operation& o) {
  std::size_t target, source;
  if (!choose_pair(x, o, &target, &source)) return;
  const Plane plane = plane_of(x.buffers_[target], x.buffers_[source], o);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = x.buffers_[source].base;
  copy.dstDevice = x.buffers_[target].base;
  copy.srcPitch = plane.source_pitch;
  copy.dstPitch = plane.target_pitch;
  copy.WidthInBytes = plane.width;
  copy.Height = plane.height;
  x.order(0, {source}, {target});
  x.line(o, cuMemcpy2D(&copy));
}

void Operations::kCopy2DAsync(Executor& x, const Operation& o) {
  const std::size_t source = x.data_buffer(o.operands[0]);
  if (source == kNone) return;
  const Plane plane = plane_of(x.buffers_[source], x.buffers_[source], o);
  std::uint8_t* host = x.pinned(plane.width * plane.height);
  if (host == nullptr) return;
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = x.buffers_[source].base;
  copy.srcPitch = plane.source_pitch;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = host;
  copy.dstPitch = copy.WidthInBytes = plane.width;
  copy.Height = plane.height;
  const std::size_t stream = x.stream_of(o.operands[4]);
  x.order(stream, {source}, {});
  x.line(o, cuMemcpy2DAsync(&copy, x.streams_[stream]));
  x.readbacks_.push_back(
      {o.number, o.kind, static_cast<std::size_t>(host - x.pinned_), plane.width * plane.height});
}

void Operations::kCopy3D(Executor& x, const Operation& o) {
  std::size_t target, source;
  if (!choose_pair(x, o, &target, &source)) return;
  const Plane plane = plane_of(x.buffers_[target], x.buffers_[source], o);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = x.buffers_[source].base;
  copy.dstDevice = x.buffers_[target].base;
  copy.srcPitch = plane.source_pitch;
  copy.dstPitch = plane.target_pitch;
  copy.srcHeight = copy.dstHeight = 1;
  copy.WidthInBytes = plane.width;
  copy.Height = 1;
  copy.Depth = plane.height;
  x.order(0, {source}, {target});
  x.line(o, cuMemcpy3D(&copy));
}

void Operations::kMemset8(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const Part part = part_of(x.buffers_[buffer], o.operands[1], o.operands[2]);
  x.order(0, {}, {buffer});
  x.line(o, cuMemsetD8(x.buffers_[buffer].base + part.from, static_cast<unsigned char>(o.operands[3]),
                       part.bytes));
}

void Operations::kMemset16(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const Part part = part_of(x.buffers_[buffer], o.operands[1], o.operands[2]);
  x.order(0, {}, {buffer});
  x.line(o, cuMemsetD16(x.buffers_[buffer].base + part.from, static_cast<unsigned short>(o.operands[3]),
                        part.bytes / 2));
}

void Operations::kMemset32(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const Part part = part_of(x.buffers_[buffer], o.operands[1], o.operands[2]);
  x.order(0, {}, {buffer});
  x.line(o, cuMemsetD32(x.buffers_[buffer].base + part.from, o.operands[3], part.bytes / 4));
}

void Operations::kMemset8Async(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const Part part = part_of(x.buffers_[buffer], o.operands[1], o.operands[2]);
  const std::size_t stream = x.stream_of(o.operands[4]);
  x.order(stream, {}, {buffer});
  x.line(o, cuMemsetD8Async(x.buffers_[buffer].base + part.from, static_cast<unsigned char>(o.operands[3]),
                            part.bytes, x.streams_[stream]));
}

void Operations::kMemset32Async(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const Part part = part_of(x.buffers_[buffer], o.operands[1], o.operands[2]);
  const std::size_t stream = x.stream_of(o.operands[4]);
  x.order(stream, {}, {buffer});
  x.line(o, cuMemsetD32Async(x.buffers_[buffer].base + part.from, o.operands[3], part.bytes / 4,
                             x.streams_[stream]));
}

void Operations::kMemset2D(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const Plane plane = plane_of(x.buffers_[buffer], x.buffers_[buffer], o);
  x.order(0, {}, {buffer});
  x.line(o, cuMemsetD2D32(x.buffers_[buffer].base, plane.target_pitch, o.operands[4], plane.width / 4,
                          plane.height));
}

}  // namespace torture
