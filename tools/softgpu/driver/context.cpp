#include "tools/softgpu/driver/context.hpp"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/capture.hpp"
#include "tools/softgpu/driver/memory.hpp"

namespace softgpu {

thread_local bool in_host_function = false;

namespace {

std::atomic<bool> initialised{false};
std::atomic<bool> forked{false};
std::atomic<std::uint64_t> next_context_id{1};

}  // namespace

CUresult initialise() {
  if (forked.load()) return CUDA_ERROR_NOT_INITIALIZED;
  if (initialised.exchange(true)) return CUDA_SUCCESS;
  pthread_atfork(nullptr, nullptr, [] { forked.store(true); });
  machine();
  return CUDA_SUCCESS;
}

CUresult check_initialised() {
  if (in_host_function) return CUDA_ERROR_NOT_PERMITTED;
  return initialised.load() && !forked.load() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

Context::Context(int ordinal, unsigned creation_flags, bool is_primary)
    : device(machine().device(ordinal)),
      primary(is_primary),
      flags(creation_flags),
      id(next_context_id.fetch_add(1)),
      fate(std::make_shared<Fate>()),
      limits{{CU_LIMIT_STACK_SIZE, 1024},
             {CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20},
             {CU_LIMIT_MALLOC_HEAP_SIZE, 8 << 20}} {
  fate->device = ordinal;
  group = machine().scheduler.create_group(fate);
}

std::vector<CUcontext>& context_stack() {
  thread_local std::vector<CUcontext> stack;
  return stack;
}

CUresult current_context_even_failed(ContextPtr* context) {
  SOFTGPU_TRY(check_initialised());
  const auto& stack = context_stack();
  if (stack.empty() || stack.back() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *context = Contexts::instance().find(stack.back());
  return *context == nullptr ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

CUresult current_context(ContextPtr* context) {
  SOFTGPU_TRY(current_context_even_failed(context));
  return fate_of(*(*context)->fate);
}

CUresult fate_of(const Fate& fate) { return static_cast<CUresult>(fate.error.load()); }

CUresult create_context(int device, unsigned flags, bool primary, ContextPtr* result) {
  if (device < 0 || static_cast<std::size_t>(device) >= machine().devices.size())
    return CUDA_ERROR_INVALID_DEVICE;
  auto overhead = PhysicalBlock::on_device(machine().device(device).hbm, device, settings().context_bytes);
  if (overhead == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  auto context = std::make_shared<Context>(device, flags, primary);
  context->overhead = std::move(overhead);
  Contexts::instance().add(context);
  auto legacy = std::make_shared<Stream>();
  legacy->context = context;
  legacy->context_handle = reinterpret_cast<CUcontext>(context.get());
  legacy->fate = context->fate.get();
  legacy->queue = context->group->streams.front();
  context->legacy_stream = std::move(legacy);
  *result = std::move(context);
  return CUDA_SUCCESS;
}

void destroy_context(CUcontext handle) {
  const ContextPtr context = Contexts::instance().find(handle);
  if (context == nullptr) return;
  machine().scheduler.wait_group(*context->group);
  Contexts::instance().remove(handle);
  Streams::instance().remove_if([&](const Stream& stream) { return stream.context_handle == handle; });
  Events::instance().remove_if([&](const Event& event) { return event.context_handle == handle; });
  release_modules(handle);
  std::vector<std::uint64_t> owned;
  machine().space.for_each([&](const Range& range) {
    if (range.context == handle && range.kind != Range::Kind::kMapping) owned.push_back(range.base);
  });
  for (const std::uint64_t base : owned) release_memory(base);
  machine().scheduler.remove_group(context->group);
}

StreamPtr make_stream(const ContextPtr& context, StreamKind kind, unsigned flags, int priority) {
  auto stream = std::make_shared<Stream>();
  stream->context = context;
  stream->context_handle = reinterpret_cast<CUcontext>(context.get());
  stream->fate = context->fate.get();
  stream->queue = machine().scheduler.create_stream(context->group, kind);
  stream->flags = flags;
  stream->priority = priority;
  return stream;
}

CUresult find_stream(CUstream handle, StreamPtr* stream) {
  const bool per_thread =
      handle == CU_STREAM_PER_THREAD || (handle == nullptr && api::per_thread_default_stream);
  if (handle != nullptr && handle != CU_STREAM_LEGACY && !per_thread) {
    SOFTGPU_TRY(check_initialised());
    *stream = Streams::instance().find(handle);
    return *stream == nullptr ? CUDA_ERROR_INVALID_HANDLE : fate_of(*(*stream)->fate);
  }
  ContextPtr context;
  SOFTGPU_TRY(current_context(&context));
  if (!per_thread) {
    *stream = context->legacy_stream;
    return CUDA_SUCCESS;
  }
  const std::lock_guard lock(context->mutex);
  StreamPtr& own = context->per_thread_streams[std::this_thread::get_id()];
  if (own == nullptr) own = make_stream(context, StreamKind::kBlocking, 0, 0);
  *stream = own;
  return CUDA_SUCCESS;
}

bool is_synchronous(CUdeviceptr address) {
  ContextPtr context;
  if (current_context(&context) == CUDA_SUCCESS && (context->flags.load() & CU_CTX_SYNC_MEMOPS) != 0)
    return true;
  const auto range = machine().space.find(address);
  return range && range->synchronous;
}

CUresult submit(Stream& stream, Work work, OperationPtr* result, std::vector<OperationPtr> dependencies) {
  SOFTGPU_TRY(fate_of(*stream.fate));
  bool captured = false;
  SOFTGPU_TRY(record_if_capturing(stream, work, &captured));
  if (captured) return CUDA_SUCCESS;
  auto operation = std::make_shared<Operation>();
  operation->engine = work.engine;
  operation->body = std::move(work.body);
  operation->poll = std::move(work.poll);
  operation->stream = stream.queue;
  operation->dependencies = std::move(dependencies);
  machine().scheduler.submit(operation);
  if (result != nullptr) *result = std::move(operation);
  return CUDA_SUCCESS;
}

CUresult wait_for(const Fate& fate, const OperationPtr& operation) {
  if (operation != nullptr) machine().scheduler.wait(operation);
  return fate_of(fate);
}

}  // namespace softgpu
