// The runtime's face towards the doors: one normalised form of everything a program's driver calls mean for
// us. Called by interpose/ only. Thread rule: every member from any thread of the program, concurrently.
// Failure rule: answers are CUresult values the genuine driver could have given; out-parameters are written
// on success only.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/base/statistics.hpp"
#include "src/base/units.hpp"
#include "src/driver/driver.hpp"
#include "src/runtime/parts.hpp"

namespace tencache {
struct Options;
}

namespace tencache::runtime {

// A stream as the door knew it: 0 already turned into CU_STREAM_LEGACY or CU_STREAM_PER_THREAD by the door's
// flavour.
struct Stream {
  CUstream handle;
};

enum class AllocationKind : std::uint8_t { kSync, kPitched, kAsync, kPool };

struct AllocationRequest {
  AllocationKind kind;
  Bytes size;          // as asked; for kPitched pitch x height
  Stream stream;       // kAsync and kPool
  CUmemoryPool pool;   // kPool, else null
  const void* caller;  // return address in the program, names the owner module
};

struct Range {
  CUdeviceptr base;
  Bytes size;
};

// kHostFunction and kStreamWait (a wait on a value in memory) carry no ranges: they are told because a launch
// must not wait for them (rule 4), and because a free waits for what was enqueued.
enum class AccessKind : std::uint8_t { kLaunch, kCopy, kMemset, kGraph, kHostFunction, kStreamWait, kOther };

// One operation about to be given to the driver. Spans live until `after` returns.
struct Access {
  AccessKind kind;
  bool synchronous;  // the call returns only after the operation (sync copies and memsets)
  Stream stream;
  CUfunction function;                    // kLaunch
  std::uint64_t signature;                // function and grid shape, without addresses
  bool opaque;                            // parameters could not be read, or the kernel may launch others
  bool waits_for_host;                    // kGraph: a node of it is a host function or waits for others
  bool recorded;                          // into a graph: the driver judges the addresses, enqueues nothing
  std::span<const CUdeviceptr> pointers;  // kLaunch: every parameter word that lies in the arena; kGraph: of
                                          // all its nodes, with the addresses of its copies and memsets
  Range destination;             // kCopy, kMemset; size 0 where that side is not device memory of ours
  Range source;                  // kCopy
  bool destination_overwritten;  // every byte of `destination` is written
  const void* host_source;       // kCopy from pageable memory, for the pointer scan; else null
  Bytes host_source_size;        // bytes at host_source
  const PartIssuer* parts;       // copies and memsets; null: the call cannot be split
};

// The answer to `before`: forward the call and then give the ticket to `after`, or return `result` at once.
struct Admission {
  bool forward;
  CUresult result;
  std::uint64_t ticket;
};

// A way in while everything is in HBM; none is false.
struct Passage {
  void* memory;
  explicit operator bool() const noexcept { return memory != nullptr; }
};

// The arena as one subtraction, for the launch path: address - base < size.
struct Arena {
  CUdeviceptr base;
  std::uint64_t size;  // 0 while nothing is managed
};

class Runtime {
 public:
  virtual ~Runtime() = default;

  [[nodiscard]] virtual Arena arena() const noexcept = 0;

  // kNotOurs: the door forwards the call to the driver (another context, a capture, not started).
  enum class Verdict : std::uint8_t { kNotOurs, kAnswered };
  virtual Verdict allocate(const AllocationRequest& request, CUdeviceptr* address,
                           CUresult* result) noexcept = 0;
  virtual Verdict free_sync(CUdeviceptr address, CUresult* result) noexcept = 0;
  // As free_sync while a stream is being captured: nothing is waited for.
  virtual Verdict free_in_capture(CUdeviceptr address, CUresult* result) noexcept = 0;
  virtual Verdict free_async(CUdeviceptr address, Stream stream, CUresult* result) noexcept = 0;

  // Pools: what the driver did for the program.
  virtual void pool_created(CUmemoryPool pool, const CUmemPoolProps& properties) noexcept = 0;
  virtual void pool_destroyed(CUmemoryPool pool) noexcept = 0;
  virtual void pool_shared(CUmemoryPool pool, std::span<const CUmemAccessDesc> with) noexcept = 0;
  virtual void pool_trimmed(CUmemoryPool pool) noexcept = 0;
  virtual void pools_changed() noexcept = 0;  // which of them a device's allocations come from
  virtual void pool_attribute_set(CUmemoryPool pool, CUmemPool_attribute attribute) noexcept = 0;
  // Adds to the driver's own answer what is in use here of the pool.
  virtual void add_pool_use(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) noexcept = 0;

  // Every call that enqueues work, also where it has no address of ours: what is not told cannot be waited
  // for. A copy or memset that could not be let in whole has been issued by `parts` when `before` answers.
  virtual Admission before(const Access& access) noexcept = 0;
  virtual void after(const Access& access, std::uint64_t ticket, CUresult result) noexcept = 0;

  // Kernels whose every address is known: a passage is `before` and `left_light` its `after`. None: take
  // `before`. Between the two the thread only makes the driver's call.
  virtual Passage enter_light(Stream stream, std::span<const CUdeviceptr> pointers) noexcept = 0;
  virtual void left_light(Passage passage) noexcept = 0;

  // The address is about to be handed to hardware, another process or a library: its allocation comes into
  // HBM and stays where it is until it is freed. False: it could not.
  virtual bool freeze(CUdeviceptr address) noexcept = 0;
  // A descriptor names the address: every kernel may touch its allocation until it is let go (with what
  // `hold` answered), at the latest until it is freed.
  virtual std::uint64_t hold(CUdeviceptr address) noexcept = 0;
  virtual void hold_until_freed(CUdeviceptr address) noexcept = 0;
  virtual void let_go(CUdeviceptr address, std::uint64_t hold) noexcept = 0;

  // A call that was passed through failed with CUDA_ERROR_OUT_OF_MEMORY: true when room was made and one
  // retry is due. `wanted` 0: it is not known how much the call takes.
  virtual bool make_room_for_pass_through(Bytes wanted) noexcept = 0;

  // Synchronisation the program has asked for and got: work enqueued before it is done.
  virtual void stream_synchronized(Stream stream) noexcept = 0;
  virtual void context_synchronized() noexcept = 0;
  // A call of the program that waits was answered with an error: it may be one of the whole context.
  virtual void synchronization_failed(CUresult result) noexcept { static_cast<void>(result); }
  // Before the driver destroys it: its last marker can still be recorded.
  virtual void stream_about_to_be_destroyed(CUstream stream) noexcept = 0;
  // With it go its streams, of which some may have worked on memory of the primary context.
  virtual void context_about_to_be_destroyed(CUcontext context) noexcept = 0;
  // Around a call by which a stream may enter a capture: nothing of ours is recorded meanwhile.
  virtual void capture_begins(Stream stream) noexcept = 0;
  virtual void capture_has_begun() noexcept = 0;
  // Around a call after which the primary context may be gone: nothing of ours works in it meanwhile.
  virtual void primary_context_may_go(CUdevice device) noexcept = 0;
  virtual void primary_context_stays(CUdevice device) noexcept = 0;
  virtual void primary_context_is_gone(CUdevice device) noexcept = 0;

  // Queries; false: not ours, forward.
  // Outputs may be null.
  virtual bool memory_info(std::size_t* free_bytes, std::size_t* total_bytes) noexcept = 0;
  // cuDeviceTotalMem: the device's own unless TENCACHE_REPORT=virtual.
  virtual bool total_memory(CUdevice device, std::size_t* bytes) noexcept {
    static_cast<void>(device);
    static_cast<void>(bytes);
    return false;
  }
  virtual bool address_range(CUdeviceptr address, CUdeviceptr* base, std::size_t* size) noexcept = 0;
  virtual bool pointer_attribute(void* data, CUpointer_attribute attribute, CUdeviceptr address,
                                 CUresult* result) noexcept = 0;
  // cuPointerSetAttribute.
  virtual bool set_pointer_attribute(const void* value, CUpointer_attribute attribute, CUdeviceptr address,
                                     CUresult* result) noexcept {
    static_cast<void>(value);
    static_cast<void>(attribute);
    static_cast<void>(address);
    static_cast<void>(result);
    return false;
  }
  // Flags that contexts have for what was promised of memory: a program's own flags come beside them.
  [[nodiscard]] virtual unsigned kept_context_flags() const noexcept { return 0; }

  // The process is about to end or has just forked: no CUDA call of ours after this.
  virtual void go_passive() noexcept = 0;
  // Told at exit, before the summary: how many calls went by that are classified but not handled.
  virtual void passed_through(std::uint64_t calls) noexcept { static_cast<void>(calls); }
  // What has been counted so far.
  [[nodiscard]] virtual const Statistics* statistics() const noexcept { return nullptr; }
  // At exit, before go_passive: the summary, if asked for.
  virtual void print_summary() noexcept = 0;
};

// Makes the runtime over the genuine driver. Called once, at the end of the first successful cuInit. Null
// when this machine cannot be served (old driver, no VMM, vGPU): the reason has been logged, everything
// passes through.
Runtime* start(const Driver& driver, const Options& options) noexcept;

}  // namespace tencache::runtime
