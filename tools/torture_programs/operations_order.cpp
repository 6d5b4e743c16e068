// Synchronisation, host functions, threads, and reading everything back.
#include <thread>
#include <vector>

#include "tools/torture_programs/operations.hpp"

namespace torture {

void Operations::kStreamSynchronize(Executor& x, const Operation& o) {
  const std::size_t stream = x.stream_of(o.operands[0]);
  x.line(o, cuStreamSynchronize(x.streams_[stream]));
  x.completed(stream);
}

void Operations::kContextSynchronize(Executor& x, const Operation& o) {
  x.line(o, cuCtxSynchronize());
  x.all_completed();
  x.flush_readbacks();
}

void Operations::kStreamRecreate(Executor& x, const Operation& o) {
  const std::size_t stream = 2 + o.operands[0] % (kStreams - 2);
  // What is queued goes on after the destruction: everyone who needs it must wait for it now.
  for (std::size_t other = 0; other < kStreams; ++other)
    if (other != stream) x.wait_for(other, stream);
  x.completed(stream);
  x.line(o, cuStreamDestroy(x.streams_[stream]));
  cuStreamCreate(&x.streams_[stream], stream % 2 == 0 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING);
  x.wait_for(stream, stream == 2 ? 3 : 2);  // so must the new one, which does not know the old one's work
}

namespace {

struct HostRead {
  const std::uint8_t* bytes;
  std::size_t size;
  std::uint64_t hash;
};

void read_on_host(void* data) {
  auto* read = static_cast<HostRead*>(data);
  read->hash = hash_bytes(read->bytes, read->size);
}

}  // namespace

void Operations::kHostFunction(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const std::size_t stream = x.stream_of(o.operands[1]);
  std::uint8_t* bytes = x.pinned(x.buffers_[buffer].bytes);
  if (bytes == nullptr) return;
  HostRead read{bytes, x.buffers_[buffer].bytes, 0};
  x.order(stream, {buffer}, {});
  cuMemcpyDtoHAsync(bytes, x.buffers_[buffer].base, read.size, x.streams_[stream]);
  const CUresult result = cuLaunchHostFunc(x.streams_[stream], read_on_host, &read);
  cuStreamSynchronize(x.streams_[stream]);
  x.completed(stream);
  x.line(o, result, read.hash);
}

void Operations::kHashAll(Executor& x, const Operation& o) {
  cuCtxSynchronize();
  x.all_completed();
  x.flush_readbacks();
  std::vector<std::uint8_t> bytes;
  for (const Buffer& b : x.buffers_) {
    if (b.bytes == 0 || b.is_table) continue;
    bytes.assign(b.bytes, 0);
    const CUresult result = cuMemcpyDtoH(bytes.data(), b.base, b.bytes);
    x.line(o, result, hash_bytes(bytes.data(), bytes.size()));
  }
}

namespace {

constexpr std::uint32_t kThreadBuffers = 3;

struct ThreadWork {
  CUcontext context;
  const Kernels* kernels;
  std::uint32_t words, rounds, salt;
  std::uint64_t hash = 0;
  CUresult worst = CUDA_SUCCESS;
};

void note(ThreadWork& work, CUresult result) {
  if (result != CUDA_SUCCESS && work.worst == CUDA_SUCCESS) work.worst = result;
}

void mix_round(ThreadWork& work, CUstream stream, CUdeviceptr* buffers, std::uint32_t round) {
  std::uint32_t count = work.words, salt = work.salt + round;
  void* parameters[] = {&buffers[round % kThreadBuffers],
                        &count,
                        &buffers[(round + 1) % kThreadBuffers],
                        &count,
                        &buffers[(round + 2) % kThreadBuffers],
                        &count,
                        &salt};
  note(work, cuLaunchKernel(work.kernels->mix, 3, 1, 1, 128, 1, 1, 0, stream, parameters, nullptr));
}

void work_alone(ThreadWork& work) {
  note(work, cuCtxSetCurrent(work.context));
  CUstream stream = nullptr;
  note(work, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr buffers[kThreadBuffers] = {};
  for (CUdeviceptr& buffer : buffers) {
    note(work, cuMemAlloc(&buffer, std::size_t{work.words} * 4));
    note(work, cuMemsetD32Async(buffer, ++work.salt, work.words, stream));
  }
  for (std::uint32_t round = 0; round < work.rounds; ++round) mix_round(work, stream, buffers, round);
  std::vector<std::uint8_t> bytes(std::size_t{work.words} * 4);
  note(work, cuStreamSynchronize(stream));
  for (CUdeviceptr buffer : buffers) {
    note(work, cuMemcpyDtoH(bytes.data(), buffer, bytes.size()));
    work.hash = work.hash * 31 + hash_bytes(bytes.data(), bytes.size());
    note(work, cuMemFree(buffer));
  }
  note(work, cuStreamDestroy(stream));
}

}  // namespace

void Operations::kThreads(Executor& x, const Operation& o) {
  const std::uint32_t threads = 2 + o.operands[0] % 3;
  const std::uint32_t words = 256 + o.operands[1] % (x.shape_.largest / 64);
  if (!x.has_room(std::uint64_t{threads} * kThreadBuffers * words * 4)) return;
  std::vector<ThreadWork> work;
  for (std::uint32_t t = 0; t < threads; ++t)
    work.push_back({x.context_, &x.kernels_, words, 1 + o.operands[2] % 12, o.operands[3] + t * 1000});
  std::vector<std::thread> running;
  for (ThreadWork& w : work) running.emplace_back(work_alone, std::ref(w));
  for (std::thread& thread : running) thread.join();
  for (const ThreadWork& w : work) x.line(o, w.worst, w.hash);
}

}  // namespace torture
