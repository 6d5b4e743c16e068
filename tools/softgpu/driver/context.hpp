// Contexts, which one is current, and the streams and events in them. Called by every entry point. Thread
// rule: any thread; the current context is the calling thread's. Failure rule: CUresult; a context's first
// device error stays.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "tools/softgpu/device/machine.hpp"
#include "tools/softgpu/driver/registry.hpp"

namespace softgpu {

struct Capture;
struct GraphNode;
struct NodeContents;
struct Stream;
using StreamPtr = std::shared_ptr<Stream>;

struct Context {
  Context(int device, unsigned creation_flags, bool is_primary);

  Device& device;
  const bool primary;
  std::atomic<unsigned> flags;
  const std::uint64_t id;
  std::shared_ptr<Fate> fate;
  std::shared_ptr<StreamGroup> group;
  std::shared_ptr<PhysicalBlock> overhead;  // device memory that the context itself takes
  StreamPtr legacy_stream;
  std::mutex mutex;
  std::map<std::thread::id, StreamPtr> per_thread_streams;
  std::map<CUlimit, std::size_t> limits;
};
using ContextPtr = std::shared_ptr<Context>;
using Contexts = Registry<Context, CUcontext>;

struct Stream {
  std::weak_ptr<Context> context;
  CUcontext context_handle = nullptr;
  Fate* fate = nullptr;
  std::shared_ptr<StreamQueue> queue;
  unsigned flags = 0;
  int priority = 0;
  std::mutex mutex;
  std::shared_ptr<Capture> capture;
};
using Streams = Registry<Stream, CUstream>;

struct Event {
  CUcontext context_handle = nullptr;
  std::shared_ptr<Fate> fate;
  unsigned flags = 0;
  std::mutex mutex;
  OperationPtr record;  // null: never recorded
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> captured_after;  // nodes of that capture
};
using Events = Registry<Event, CUevent>;

// True on the thread that runs host functions: they may not call the driver.
extern thread_local bool in_host_function;

// Init, and what forbids every call: not initialised, a forked child.
CUresult initialise();
CUresult check_initialised();

// The calling thread's context; refuses where there is none, it is gone, or a device error stays.
CUresult current_context(ContextPtr* context);
// The same without the check of its health.
CUresult current_context_even_failed(ContextPtr* context);
std::vector<CUcontext>& context_stack();

// Whether copies and memsets without a stream wait even where they touch device memory alone: the context's
// flag, or that of the memory.
bool is_synchronous(CUdeviceptr address);

CUresult create_context(int device, unsigned flags, bool primary, ContextPtr* context);
// Waits for its work, then takes away all it owns.
void destroy_context(CUcontext handle);

// 0, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD mean the current context's; the others carry their own.
CUresult find_stream(CUstream handle, StreamPtr* stream);
StreamPtr make_stream(const ContextPtr& context, StreamKind kind, unsigned flags, int priority);

// What is put into a stream; copied where a graph keeps it.
struct Work {
  EngineKind engine = EngineKind::kInline;
  std::function<void(Progress&)> body;
  std::function<bool()> poll;
  std::shared_ptr<const NodeContents> contents;  // what a graph's node of it says; null: nothing
};
// Enqueues, or records while the stream is being captured. `operation` may be null.
CUresult submit(Stream& stream, Work work, OperationPtr* operation = nullptr,
                std::vector<OperationPtr> dependencies = {});
// Waits and answers with what became of the context.
CUresult wait_for(const Fate& fate, const OperationPtr& operation);
CUresult fate_of(const Fate& fate);

}  // namespace softgpu
