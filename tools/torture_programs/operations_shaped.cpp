// Planes and boxes, to and from the host, with corners; copies between contexts; per-thread streams' copies.
#include <algorithm>
#include <vector>

#include "tools/torture_programs/operations.hpp"
#include "tools/torture_programs/per_thread.hpp"

namespace torture {

// Rows of a buffer, `slices` x `height` of them, and the part of each that is copied.
struct Box {
  std::size_t pitch, height, slices, x, width;
};

namespace {

Box box_of(std::uint32_t bytes, const Operation& o) {
  Box box{0, 1 + o.operands[2] % 5, 1 + o.operands[3] % 3, 0, 0};
  box.pitch = bytes / (box.height * box.slices) / 4 * 4;
  if (box.pitch < 8) box = {8, 1, 1, 0, 0};
  box.x = o.operands[4] % (box.pitch / 4) * 4;
  box.width = 4 + o.operands[5] % ((box.pitch - box.x) / 4) * 4;
  return box;
}

CUDA_MEMCPY3D deep(const Box& box) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcPitch = copy.dstPitch = box.pitch;
  copy.srcHeight = copy.dstHeight = box.height;
  copy.srcXInBytes = copy.dstXInBytes = box.x;
  copy.WidthInBytes = box.width;
  copy.Height = box.height;
  copy.Depth = box.slices;
  return copy;
}

CUDA_MEMCPY2D flat(const Box& box) {
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcPitch = copy.dstPitch = box.pitch;
  copy.srcXInBytes = copy.dstXInBytes = box.x;
  copy.WidthInBytes = box.width;
  copy.Height = box.height * box.slices;
  return copy;
}

std::size_t bytes_of(const Box& box) { return box.pitch * box.height * box.slices; }

std::vector<std::uint32_t> pattern(std::size_t bytes, std::uint32_t salt) {
  std::vector<std::uint32_t> words(bytes / 4);
  for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = (i + salt) * 0x9e3779b1u;
  return words;
}

}  // namespace

template <class Copy>
void Operations::copy_from_host(Executor& x, const Operation& o, Copy (*shape)(const Box&),
                                CUresult (*call)(const Copy*)) {
  const std::size_t target = x.data_buffer(o.operands[0]);
  if (target == kNone) return;
  const Box box = box_of(x.buffers_[target].bytes, o);
  const auto words = pattern(bytes_of(box), o.operands[1]);
  Copy copy = shape(box);
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = words.data();
  copy.dstDevice = x.buffers_[target].base;
  x.order(0, {}, {target});
  x.line(o, call(&copy));
}

void Operations::kCopy2DFromHost(Executor& x, const Operation& o) {
  copy_from_host<CUDA_MEMCPY2D>(x, o, flat, cuMemcpy2DUnaligned);
}

void Operations::kCopy2DToHost(Executor& x, const Operation& o) {
  const std::size_t source = x.data_buffer(o.operands[0]);
  if (source == kNone) return;
  const Box box = box_of(x.buffers_[source].bytes, o);
  std::vector<std::uint32_t> words(bytes_of(box) / 4);
  CUDA_MEMCPY2D copy = flat(box);
  copy.srcDevice = x.buffers_[source].base;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = words.data();
  x.order(0, {source}, {});
  const CUresult result = cuMemcpy2D(&copy);
  x.line(o, result, hash_bytes(words.data(), words.size() * 4));
}

void Operations::kCopy2DUnified(Executor& x, const Operation& o) {
  std::size_t target, source;
  if (!choose_pair(x, o, &target, &source)) return;
  const Box box = box_of(std::min(x.buffers_[target].bytes, x.buffers_[source].bytes), o);
  CUDA_MEMCPY2D copy = flat(box);
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = x.buffers_[source].base;
  copy.dstDevice = x.buffers_[target].base;
  copy.dstXInBytes = 0;
  const std::size_t stream = x.stream_of(o.operands[1]);
  x.order(stream, {source}, {target});
  x.line(o, cuMemcpy2DAsync(&copy, x.streams_[stream]));
}

void Operations::kCopy3DAsync(Executor& x, const Operation& o) {
  std::size_t target, source;
  if (!choose_pair(x, o, &target, &source)) return;
  CUDA_MEMCPY3D copy = deep(box_of(std::min(x.buffers_[target].bytes, x.buffers_[source].bytes), o));
  copy.srcDevice = x.buffers_[source].base;
  copy.dstDevice = x.buffers_[target].base;
  copy.srcXInBytes = 0;
  const std::size_t stream = x.stream_of(o.operands[1]);
  x.order(stream, {source}, {target});
  x.line(o, cuMemcpy3DAsync(&copy, x.streams_[stream]));
}

void Operations::kCopy3DFromHost(Executor& x, const Operation& o) {
  copy_from_host<CUDA_MEMCPY3D>(x, o, deep, cuMemcpy3D);
}

void Operations::kCopy3DToHost(Executor& x, const Operation& o) {
  const std::size_t source = x.data_buffer(o.operands[0]);
  if (source == kNone) return;
  const Box box = box_of(x.buffers_[source].bytes, o);
  std::uint8_t* host = x.pinned(bytes_of(box));
  if (host == nullptr) return;
  std::fill_n(host, bytes_of(box), std::uint8_t{0});
  CUDA_MEMCPY3D copy = deep(box);
  copy.srcDevice = x.buffers_[source].base;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = host;
  const std::size_t stream = x.stream_of(o.operands[1]);
  x.order(stream, {source}, {});
  x.line(o, cuMemcpy3DAsync(&copy, x.streams_[stream]));
  x.readbacks_.push_back({o.number, o.kind, static_cast<std::size_t>(host - x.pinned_), bytes_of(box)});
}

void Operations::kCopy3DPeer(Executor& x, const Operation& o) {
  std::size_t target, source;
  if (!choose_pair(x, o, &target, &source)) return;
  const CUDA_MEMCPY3D same = deep(box_of(std::min(x.buffers_[target].bytes, x.buffers_[source].bytes), o));
  CUDA_MEMCPY3D_PEER copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = x.buffers_[source].base;
  copy.dstDevice = x.buffers_[target].base;
  copy.srcContext = copy.dstContext = x.context_;
  copy.srcPitch = copy.dstPitch = same.srcPitch;
  copy.srcHeight = copy.dstHeight = same.srcHeight;
  copy.WidthInBytes = same.WidthInBytes;
  copy.Height = same.Height;
  copy.Depth = same.Depth;
  x.order(0, {source}, {target});
  x.line(o, cuMemcpy3DPeer(&copy));
}

void Operations::kCopyPeer(Executor& x, const Operation& o) {
  std::size_t target, source;
  if (!choose_pair(x, o, &target, &source)) return;
  const std::size_t bytes = std::min(x.buffers_[target].bytes, x.buffers_[source].bytes);
  x.order(0, {source}, {target});
  x.line(o, cuMemcpyPeer(x.buffers_[target].base, x.context_, x.buffers_[source].base, x.context_, bytes));
}

void Operations::kCopyPeerAsync(Executor& x, const Operation& o) {
  std::size_t target, source;
  if (!choose_pair(x, o, &target, &source)) return;
  const std::size_t bytes = std::min(x.buffers_[target].bytes, x.buffers_[source].bytes);
  const std::size_t stream = x.stream_of(o.operands[2]);
  x.order(stream, {source}, {target});
  x.line(o, cuMemcpyPeerAsync(x.buffers_[target].base, x.context_, x.buffers_[source].base, x.context_, bytes,
                              x.streams_[stream]));
}

// Two halves of one buffer from two others, in no particular order. The driver takes none on the legacy
// stream.
void Operations::kBatchedCopies(Executor& x, const Operation& o) {
  Chosen c;
  if (!choose(x, o, &c)) return;
  Buffer& target = x.buffers_[c.target];
  const std::size_t half = target.bytes / 2;
  CUdeviceptr to[] = {target.base, target.base + half};
  CUdeviceptr from[] = {x.buffers_[c.a].base, x.buffers_[c.b].base};
  std::size_t sizes[] = {std::min<std::size_t>(half, x.buffers_[c.a].bytes),
                         std::min<std::size_t>(half, x.buffers_[c.b].bytes)};
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  std::size_t first = 0;
  const std::size_t stream = x.stream_of(o.operands[4]);
  x.order(stream, {c.a, c.b}, {c.target});
  x.line(o, cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, x.streams_[stream]));
}

// A copy without a stream is done when it returns, where that was promised: who reads it on a stream that
// waits for no other finds it.
void Operations::kPromisedToWait(Executor& x, const Operation& o) {
  constexpr std::size_t kNotBlocking = 3;
  std::size_t target, source;
  if (!choose_pair(x, o, &target, &source)) return;
  const CUdeviceptr to = x.buffers_[target].base;
  const std::size_t bytes = std::min(x.buffers_[target].bytes, x.buffers_[source].bytes);
  std::uint8_t* read = x.pinned(bytes);
  if (read == nullptr) return;
  const unsigned on = 1, off = 0;
  x.line(o, cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, to));
  x.order(0, {source}, {target});
  x.line(o, cuMemcpyDtoD(to, x.buffers_[source].base, bytes));
  x.buffers_[target].writer = kNone;
  x.order(kNotBlocking, {target}, {});
  x.line(o, cuMemcpyDtoHAsync(read, to, bytes, x.streams_[kNotBlocking]));
  x.readbacks_.push_back({o.number, o.kind, static_cast<std::size_t>(read - x.pinned_), bytes});
  x.line(o, cuPointerSetAttribute(&off, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, to));
}

void Operations::kHostToDevicePerThread(Executor& x, const Operation& o) {
  static const auto copy = per_thread(&cuMemcpyHtoD, "cuMemcpyHtoD");
  const std::size_t target = x.data_buffer(o.operands[0]);
  if (target == kNone) return;
  const auto words = pattern(x.buffers_[target].bytes, o.operands[1]);
  x.order(1, {}, {target});
  x.line(o, copy(x.buffers_[target].base, words.data(), words.size() * 4));
}

void Operations::kDeviceToHostPerThread(Executor& x, const Operation& o) {
  static const auto copy = per_thread(&cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync");
  const std::size_t source = x.data_buffer(o.operands[0]);
  if (source == kNone) return;
  const std::size_t bytes = x.buffers_[source].bytes;
  std::uint8_t* host = x.pinned(bytes);
  if (host == nullptr) return;
  x.order(1, {source}, {});
  x.line(o, copy(host, x.buffers_[source].base, bytes, nullptr));
  x.readbacks_.push_back({o.number, o.kind, static_cast<std::size_t>(host - x.pinned_), bytes});
}

void Operations::kDeviceToDevicePerThread(Executor& x, const Operation& o) {
  static const auto copy = per_thread(&cuMemcpyDtoD, "cuMemcpyDtoD");
  std::size_t target, source;
  if (!choose_pair(x, o, &target, &source)) return;
  x.order(1, {source}, {target});
  x.line(o, copy(x.buffers_[target].base, x.buffers_[source].base,
                 std::min(x.buffers_[target].bytes, x.buffers_[source].bytes)));
}

void Operations::kMemsetPerThread(Executor& x, const Operation& o) {
  static const auto fill = per_thread(&cuMemsetD32Async, "cuMemsetD32Async");
  const std::size_t target = x.data_buffer(o.operands[0]);
  if (target == kNone) return;
  x.order(1, {}, {target});
  x.line(o, fill(x.buffers_[target].base, o.operands[1], x.buffers_[target].count(), nullptr));
}

void Operations::kMemset16Async(Executor& x, const Operation& o) {
  const std::size_t target = x.data_buffer(o.operands[0]);
  if (target == kNone) return;
  const std::size_t stream = x.stream_of(o.operands[1]);
  x.order(stream, {}, {target});
  x.line(o, cuMemsetD16Async(x.buffers_[target].base, static_cast<unsigned short>(o.operands[2]),
                             x.buffers_[target].bytes / 2, x.streams_[stream]));
}

void Operations::kMemset2D8(Executor& x, const Operation& o) {
  const std::size_t target = x.data_buffer(o.operands[0]);
  if (target == kNone) return;
  const Box box = box_of(x.buffers_[target].bytes, o);
  x.order(0, {}, {target});
  x.line(o, cuMemsetD2D8(x.buffers_[target].base + box.x, box.pitch,
                         static_cast<unsigned char>(o.operands[1]), box.width, box.height));
}

void Operations::kMemset2D16Async(Executor& x, const Operation& o) {
  const std::size_t target = x.data_buffer(o.operands[0]);
  if (target == kNone) return;
  const Box box = box_of(x.buffers_[target].bytes, o);
  const std::size_t stream = x.stream_of(o.operands[1]);
  x.order(stream, {}, {target});
  x.line(o, cuMemsetD2D16Async(x.buffers_[target].base + box.x, box.pitch,
                               static_cast<unsigned short>(o.operands[1]), box.width / 2, box.height,
                               x.streams_[stream]));
}

void Operations::kMemset2D32Async(Executor& x, const Operation& o) {
  const std::size_t target = x.data_buffer(o.operands[0]);
  if (target == kNone) return;
  const Box box = box_of(x.buffers_[target].bytes, o);
  const std::size_t stream = x.stream_of(o.operands[1]);
  x.order(stream, {}, {target});
  x.line(o, cuMemsetD2D32Async(x.buffers_[target].base + box.x, box.pitch, o.operands[1], box.width / 4,
                               box.height, x.streams_[stream]));
}

void Operations::kCopyNothing(Executor& x, const Operation& o) {
  const std::size_t target = x.data_buffer(o.operands[0]);
  if (target == kNone) return;
  x.line(o, cuMemcpyDtoD(x.buffers_[target].base, x.buffers_[target].base, 0));
  x.line(o, cuMemsetD8(x.buffers_[target].base, 1, 0));
}

void Operations::kHostRegistered(Executor& x, const Operation& o) {
  const std::size_t target = x.data_buffer(o.operands[0]);
  if (target == kNone) return;
  auto words = pattern(x.buffers_[target].bytes, o.operands[1]);
  const std::size_t stream = x.stream_of(o.operands[2]);
  x.line(o, cuMemHostRegister(words.data(), words.size() * 4, 0));
  x.order(stream, {}, {target});
  x.line(o, cuMemcpyHtoDAsync(x.buffers_[target].base, words.data(), words.size() * 4, x.streams_[stream]));
  cuStreamSynchronize(x.streams_[stream]);
  x.completed(stream);
  x.line(o, cuMemHostUnregister(words.data()));
}

}  // namespace torture
