// Streams, host functions, waits and writes of values in memory.
#include <algorithm>
#include <atomic>
#include <type_traits>
#include <utility>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/capture.hpp"

namespace softgpu::api {
namespace {

constexpr int kGreatestPriority = -5;

CUresult create(CUstream* phStream, unsigned flags, int priority) {
  ContextPtr context;
  SOFTGPU_TRY(current_context(&context));
  if (phStream == nullptr || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  const StreamKind kind = flags == CU_STREAM_NON_BLOCKING ? StreamKind::kNonBlocking : StreamKind::kBlocking;
  *phStream = Streams::instance().add(make_stream(context, kind, flags, priority));
  return CUDA_SUCCESS;
}

// The address in host memory of a value that the device waits for or writes.
CUresult check_value_address(CUdeviceptr address, std::uint64_t bytes) {
  if (address % bytes != 0) return CUDA_ERROR_INVALID_VALUE;
  const Place place = machine().space.place(address, bytes);
  return place == Place::kInvalid || place == Place::kPageable ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

template <class Value>
bool value_satisfies(CUdeviceptr address, Value wanted, unsigned flags) {
  std::uint64_t run = 0;
  auto* place = reinterpret_cast<Value*>(machine().space.translate(address, false, &run));
  if (place == nullptr) return false;
  const Value found = std::atomic_ref<Value>(*place).load(std::memory_order_acquire);
  switch (flags & 3U) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return static_cast<std::make_signed_t<Value>>(found - wanted) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return found == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
      return (found & wanted) != 0;
    default:
      return static_cast<Value>(~(found | wanted)) != 0;
  }
}

template <class Value>
CUresult wait_value(CUstream handle, CUdeviceptr address, Value value, unsigned flags) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(handle, &stream));
  SOFTGPU_TRY(check_value_address(address, sizeof(Value)));
  Work work;
  work.engine = EngineKind::kPoll;
  work.poll = [=] { return value_satisfies<Value>(address, value, flags); };
  return submit(*stream, std::move(work));
}

template <class Value>
CUresult write_value(CUstream handle, CUdeviceptr address, Value value) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(handle, &stream));
  SOFTGPU_TRY(check_value_address(address, sizeof(Value)));
  const std::shared_ptr<Fate> fate = stream->queue->fate;
  Work work;
  work.engine = EngineKind::kCompute;
  work.body = [=](Progress&) {
    std::uint64_t run = 0;
    auto* place = reinterpret_cast<Value*>(machine().space.translate(address, true, &run));
    if (place == nullptr) return fate->kill(CUDA_ERROR_ILLEGAL_ADDRESS);
    std::atomic_ref<Value>(*place).store(value, std::memory_order_release);
  };
  return submit(*stream, std::move(work));
}

}  // namespace

CUresult cuStreamCreate(CUstream* phStream, unsigned int Flags) { return create(phStream, Flags, 0); }

CUresult cuStreamCreateWithPriority(CUstream* phStream, unsigned int flags, int priority) {
  return create(phStream, flags, std::clamp(priority, kGreatestPriority, 0));
}

CUresult cuStreamDestroy_v2(CUstream hStream) {
  SOFTGPU_TRY(check_initialised());
  const StreamPtr stream = Streams::instance().remove(hStream);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  machine().scheduler.destroy_stream(stream->queue);
  return fate_of(*stream->fate);
}

CUresult cuStreamSynchronize(CUstream hStream) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  SOFTGPU_TRY(refuse_if_capturing(*stream));
  machine().scheduler.wait_stream(*stream->queue);
  return fate_of(*stream->fate);
}

CUresult cuStreamQuery(CUstream hStream) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  SOFTGPU_TRY(refuse_if_capturing(*stream));
  if (!machine().scheduler.is_idle(*stream->queue)) return CUDA_ERROR_NOT_READY;
  return fate_of(*stream->fate);
}

CUresult cuStreamGetFlags(CUstream hStream, unsigned int* flags) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = stream->flags;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream hStream, int* priority) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  if (priority == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *priority = stream->priority;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream hStream, unsigned long long* streamId) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  if (streamId == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *streamId = stream->queue->id;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream hStream, CUcontext* pctx) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  if (pctx == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *pctx = stream->context_handle;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx_v2(CUstream hStream, CUcontext* pCtx, CUgreenCtx* pGreenCtx) {
  if (pGreenCtx != nullptr) *pGreenCtx = nullptr;
  return api::cuStreamGetCtx(hStream, pCtx);
}

CUresult cuStreamGetDevice(CUstream hStream, CUdevice* device) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *device = stream->queue->fate->device;
  return CUDA_SUCCESS;
}

CUresult cuStreamCopyAttributes(CUstream dst, CUstream src) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(dst, &stream));
  return find_stream(src, &stream);
}

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void* userData) {
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  if (fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return submit(*stream, work_of(contents_of(HostNode{fn, userData}), stream->queue->fate));
}

CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void* userData,
                             unsigned int flags) {
  if (callback == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  StreamPtr stream;
  SOFTGPU_TRY(find_stream(hStream, &stream));
  SOFTGPU_TRY(refuse_if_capturing(*stream));
  Work work;
  work.engine = EngineKind::kHostThread;
  work.body = [=](Progress& progress) {
    call_host([=] { callback(hStream, CUDA_SUCCESS, userData); }, progress);
  };
  return submit(*stream, std::move(work));
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
  return wait_value<std::uint32_t>(stream, addr, value, flags);
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
  return wait_value<std::uint64_t>(stream, addr, value, flags);
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int) {
  return write_value<std::uint32_t>(stream, addr, value);
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int) {
  return write_value<std::uint64_t>(stream, addr, value);
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count_of, CUstreamBatchMemOpParams* paramArray,
                               unsigned int flags) {
  if (paramArray == nullptr || flags != 0 || count_of > 256) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count_of; ++i) {
    const CUstreamBatchMemOpParams& one = paramArray[i];
    switch (one.operation) {
      case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        SOFTGPU_TRY(wait_value<std::uint32_t>(stream, one.waitValue.address, one.waitValue.value,
                                              one.waitValue.flags));
        break;
      case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        SOFTGPU_TRY(wait_value<std::uint64_t>(stream, one.waitValue.address, one.waitValue.value64,
                                              one.waitValue.flags));
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        SOFTGPU_TRY(write_value<std::uint32_t>(stream, one.writeValue.address, one.writeValue.value));
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        SOFTGPU_TRY(write_value<std::uint64_t>(stream, one.writeValue.address, one.writeValue.value64));
        break;
      case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      case CU_STREAM_MEM_OP_BARRIER:
        break;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
}

}  // namespace softgpu::api
