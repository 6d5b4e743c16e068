// Streams of every kind, events, callbacks, values in memory that streams write and wait for.
#include "tools/torture_programs/operations.hpp"
#include "tools/torture_programs/per_thread.hpp"

namespace torture {

// A stream for one operation alone: all before is complete, and so is it when the operation ends.
void Operations::on_stream_of_its_own(Executor& x, const Operation& o, CUstream stream) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer != kNone) {
    settle(x);
    fill_buffer(x, stream, buffer, o.operands[1]);
    x.line(o, cuStreamSynchronize(stream));
  }
  x.line(o, cuStreamDestroy(stream));
}

void Operations::kStreamPriority(Executor& x, const Operation& o) {
  int least = 0, greatest = 0, priority = 0;
  x.line(o, cuCtxGetStreamPriorityRange(&least, &greatest));
  CUstream stream = nullptr;
  const int wanted = o.operands[2] % 2 == 0 ? least : greatest;
  x.line(o, cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, wanted));
  x.line(o, cuStreamGetPriority(stream, &priority),
         [&] { return static_cast<std::uint64_t>(priority - wanted); });
  on_stream_of_its_own(x, o, stream);
}

void Operations::kStreamBlocking(Executor& x, const Operation& o) {
  CUstream stream = nullptr;
  x.line(o, cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  on_stream_of_its_own(x, o, stream);
}

void Operations::kStreamFlags(Executor& x, const Operation& o) {
  const CUstream stream = x.streams_[x.stream_of(o.operands[0])];
  unsigned flags = 0;
  const CUresult result = cuStreamGetFlags(stream, &flags);
  x.line(o, result, flags);
  CUcontext context = nullptr;
  x.line(o, cuStreamGetCtx(stream, &context), [&] { return context == x.context_ ? 1 : 0; });
}

void Operations::kStreamQuery(Executor& x, const Operation& o) {
  const std::size_t stream = x.stream_of(o.operands[0]);
  x.line(o, cuStreamSynchronize(x.streams_[stream]));
  x.completed(stream);
  x.line(o, cuStreamQuery(x.streams_[stream]));
}

// One stream writes a value that another waits for, behind a kernel and before one.
void Operations::kStreamValues(Executor& x, const Operation& o) {
  auto* word = reinterpret_cast<std::uint32_t*>(x.pinned(sizeof(std::uint32_t)));
  *word = ~o.operands[2];
  CUdeviceptr address = 0;
  x.line(o, cuMemHostGetDevicePointer(&address, word, 0));
  const std::size_t first = 2 + o.operands[0] % 2, second = 4 + o.operands[1] % 2;
  const std::size_t buffer = x.data_buffer(o.operands[3]);
  if (buffer != kNone) {
    x.order(first, {}, {buffer});
    fill_buffer(x, x.streams_[first], buffer, o.operands[4]);
  }
  x.line(o, cuStreamWriteValue32(x.streams_[first], address, o.operands[2], 0));
  x.line(o, cuStreamWaitValue32(x.streams_[second], address, o.operands[2], CU_STREAM_WAIT_VALUE_EQ));
  const CUresult result = cuStreamSynchronize(x.streams_[second]);
  x.completed(second);
  x.line(o, result, *word);
}

namespace {

struct Called {
  const std::uint8_t* bytes;
  std::size_t size;
  std::uint64_t hash;
  CUresult status;
};

void note_call(CUstream, CUresult status, void* data) {
  auto* called = static_cast<Called*>(data);
  called->hash = hash_bytes(called->bytes, called->size);
  called->status = status;
}

}  // namespace

void Operations::kStreamCallback(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const std::size_t stream = x.stream_of(o.operands[1]);
  const Buffer& b = x.buffers_[buffer];
  std::uint8_t* bytes = x.pinned(b.bytes);
  if (bytes == nullptr) return;
  Called called{bytes, b.bytes, 0, CUDA_ERROR_UNKNOWN};
  x.order(stream, {buffer}, {});
  x.line(o, cuMemcpyDtoHAsync(bytes, b.base, b.bytes, x.streams_[stream]));
  x.line(o, cuStreamAddCallback(x.streams_[stream], note_call, &called, 0));
  cuStreamSynchronize(x.streams_[stream]);
  x.completed(stream);
  x.line(o, called.status, called.hash);
}

void Operations::kEventQuery(Executor& x, const Operation& o) {
  const std::size_t stream = x.stream_of(o.operands[0]);
  CUevent event = nullptr;
  x.line(o, cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  x.line(o, cuEventQuery(event));  // never recorded
  x.line(o, cuEventRecord(event, x.streams_[stream]));
  x.line(o, cuEventSynchronize(event));
  x.completed(stream);
  x.line(o, cuEventQuery(event));
  x.line(o, cuEventDestroy(event));
}

void Operations::kEventElapsed(Executor& x, const Operation& o) {
  const std::size_t stream = x.stream_of(o.operands[0]);
  const std::size_t buffer = x.data_buffer(o.operands[1]);
  if (buffer == kNone) return;
  CUevent before = nullptr, after = nullptr;
  cuEventCreate(&before, CU_EVENT_DEFAULT);
  cuEventCreate(&after, CU_EVENT_BLOCKING_SYNC);
  x.order(stream, {}, {buffer});
  cuEventRecord(before, x.streams_[stream]);
  fill_buffer(x, x.streams_[stream], buffer, o.operands[2]);
  x.line(o, cuEventRecordWithFlags(after, x.streams_[stream], CU_EVENT_RECORD_DEFAULT));
  cuEventSynchronize(after);
  float milliseconds = -1;
  const CUresult result = cuEventElapsedTime(&milliseconds, before, after);
  x.line(o, result, milliseconds >= 0 ? 1 : 0);
  cuEventDestroy(before);
  cuEventDestroy(after);
}

void Operations::kEventDestroyed(Executor& x, const Operation& o) {
  CUevent event = nullptr;
  cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
  const std::size_t stream = x.stream_of(o.operands[0]), other = x.stream_of(o.operands[1]);
  x.line(o, cuEventRecord(event, x.streams_[stream]));
  x.line(o, cuStreamWaitEvent(x.streams_[other], event, 0));
  x.line(o, cuEventDestroy(event));  // with work still to pass it
}

void Operations::kPerThreadSynchronize(Executor& x, const Operation& o) {
  static const auto synchronize = per_thread(&cuStreamSynchronize, "cuStreamSynchronize");
  x.line(o, synchronize(nullptr));
  x.completed(1);
}

}  // namespace torture
