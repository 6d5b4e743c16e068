#include "tools/torture_programs/executor.hpp"

#include <cstdio>
#include <cstring>

#include "tools/torture_programs/coverage.hpp"
#include "tools/torture_programs/operations.hpp"

namespace torture {
namespace {
constexpr std::size_t kPinnedBytes = 8u << 20;
}

std::uint64_t hash_bytes(const void* bytes, std::size_t size) {
  const auto* at = static_cast<const std::uint8_t*>(bytes);
  std::uint64_t hash = 0xcbf29ce484222325u;
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, at + i, 8);
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 29;
  }
  for (; i < size; ++i) hash = (hash ^ at[i]) * 0x100000001b3u;
  return hash;
}

Executor::Executor(CUcontext context, const Kernels& kernels, const Shape& shape)
    : context_(context), kernels_(kernels), shape_(shape) {
  streams_[0] = CU_STREAM_LEGACY;
  streams_[1] = CU_STREAM_PER_THREAD;
  for (std::size_t s = 2; s < kStreams; ++s)
    cuStreamCreate(&streams_[s], s % 2 == 0 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING);
  cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING);
  void* host = nullptr;
  cuMemHostAlloc(&host, kPinnedBytes, 0);
  pinned_ = static_cast<std::uint8_t*>(host);
}

Executor::~Executor() {
  if (pool_ != nullptr) cuMemPoolDestroy(pool_);
  cuMemFreeHost(pinned_);
  cuEventDestroy(event_);
  for (std::size_t s = 2; s < kStreams; ++s) cuStreamDestroy(streams_[s]);
}

void Executor::perform(const Operation& operation) {
  const Covers covers(operation.kind);
  Operations::perform(*this, operation);
}

void Executor::finish() {
  cuCtxSynchronize();
  all_completed();
  flush_readbacks();
  for (Buffer& buffer : buffers_)
    if (buffer.bytes != 0) cuMemFree(buffer.base);
  buffers_.clear();
}

std::size_t Executor::data_buffer(std::uint32_t operand, std::uint64_t avoid) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const std::size_t at = (operand + i) % buffers_.size();
    const bool avoided = (avoid >> at & 1u) != 0;
    if (buffers_[at].bytes != 0 && !buffers_[at].is_table && !avoided) return at;
  }
  return kNone;
}

std::size_t Executor::table_buffer(std::uint32_t operand) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const std::size_t at = (operand + i) % buffers_.size();
    if (buffers_[at].bytes != 0 && buffers_[at].is_table && entries_live(buffers_[at])) return at;
  }
  return kNone;
}

bool Executor::has_room(std::uint64_t bytes) const {
  std::size_t live = 0;
  for (const Buffer& buffer : buffers_) live += buffer.bytes != 0 ? 1 : 0;
  return live < kMostBuffers && live_bytes_ + bytes <= shape_.live_bytes;
}

bool Executor::entries_live(const Buffer& table) const {
  for (std::size_t e = 0; e < table.entries.size(); ++e) {
    const Buffer& entry = buffers_[table.entries[e]];
    if (entry.bytes == 0 || entry.generation != table.generations[e] || entry.is_table) return false;
  }
  return true;
}

void Executor::wait_for(std::size_t stream, std::size_t other) {
  if (other == kNone || other == stream) return;
  cuEventRecord(event_, streams_[other]);
  cuStreamWaitEvent(streams_[stream], event_, 0);
}

void Executor::order(std::size_t stream, std::initializer_list<std::size_t> reads,
                     std::initializer_list<std::size_t> writes) {
  for (std::size_t b : reads) wait_for(stream, buffers_[b].writer);
  for (std::size_t b : writes) {
    wait_for(stream, buffers_[b].writer);
    for (std::size_t s = 0; s < kStreams; ++s)
      if ((buffers_[b].readers >> s & 1u) != 0) wait_for(stream, s);
  }
  for (std::size_t b : reads) buffers_[b].readers |= 1u << stream;
  for (std::size_t b : writes) {
    buffers_[b].writer = stream;
    buffers_[b].readers = 0;
  }
}

void Executor::completed(std::size_t stream) {
  for (Buffer& buffer : buffers_) {
    if (buffer.writer == stream) buffer.writer = kNone;
    buffer.readers &= ~(1u << stream);
  }
}

void Executor::all_completed() {
  for (std::size_t s = 0; s < kStreams; ++s) completed(s);
}

std::size_t Executor::add_buffer(CUdeviceptr base, std::uint32_t bytes) {
  std::size_t at = 0;
  while (at < buffers_.size() && buffers_[at].bytes != 0) ++at;
  if (at == buffers_.size()) buffers_.emplace_back();
  buffers_[at] = Buffer{};
  buffers_[at].base = base;
  buffers_[at].bytes = bytes;
  buffers_[at].generation = ++generation_;
  live_bytes_ += bytes;
  return at;
}

void Executor::first_write(std::size_t buffer, std::size_t stream, const Operation& operation) {
  Buffer& b = buffers_[buffer];
  order(stream, {}, {buffer});
  if (operation.operands[4] % 3 == 0) {
    cuMemsetD8Async(b.base, static_cast<unsigned char>(operation.operands[5]), b.bytes, streams_[stream]);
    return;
  }
  std::uint32_t count = b.count();
  std::uint32_t salt = operation.operands[5];
  void* parameters[] = {&b.base, &count, &salt};
  launch(kernels_.fill, stream, count, parameters);
}

CUresult Executor::launch(CUfunction function, std::size_t stream, std::uint32_t count, void** parameters) {
  const unsigned blocks = count / 128 + 1 < 16 ? count / 128 + 1 : 16;
  return cuLaunchKernel(function, blocks, 1, 1, 128, 1, 1, 0, streams_[stream], parameters, nullptr);
}

std::uint8_t* Executor::pinned(std::size_t bytes) {
  if (bytes > kPinnedBytes) return nullptr;
  if (pinned_used_ + bytes > kPinnedBytes) {
    cuCtxSynchronize();
    all_completed();
    flush_readbacks();
    pinned_used_ = 0;
  }
  std::uint8_t* at = pinned_ + pinned_used_;
  pinned_used_ += (bytes + 63) / 64 * 64;
  return at;
}

void Executor::line(const Operation& operation, CUresult result) {
  char text[96];
  std::snprintf(text, sizeof text, "%u %.*s %d\n", operation.number,
                static_cast<int>(name_of(operation.kind).size()), name_of(operation.kind).data(),
                static_cast<int>(result));
  output_ += text;
}

void Executor::line(const Operation& operation, CUresult result, std::uint64_t hash) {
  char text[96];
  std::snprintf(text, sizeof text, "%u %.*s %d %016llx\n", operation.number,
                static_cast<int>(name_of(operation.kind).size()), name_of(operation.kind).data(),
                static_cast<int>(result), static_cast<unsigned long long>(hash));
  output_ += text;
}

void Executor::flush_readbacks() {
  for (const Readback& readback : readbacks_)
    line({readback.kind, readback.number, {}}, CUDA_SUCCESS,
         hash_bytes(pinned_ + readback.offset, readback.bytes));
  readbacks_.clear();
}

}  // namespace torture
