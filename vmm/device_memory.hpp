// The memory of one device, put together: heap, admission, engine and its thread. Called by the runtime.
// Thread rule: everything from any thread of the program. Failure rule: Status; nothing is half done.
#pragma once

#include <memory>
#include <thread>

#include "vmm/admission.hpp"
#include "vmm/engine.hpp"

namespace tencache::vmm {

// The address range of the arena that belongs to the device, and one for the blocks' aliases.
struct AddressWindows {
  CUdeviceptr arena = 0;
  Bytes arena_size;
  CUdeviceptr aliases = 0;
  Bytes aliases_size;
};

class DeviceMemory {
 public:
  struct Parts {
    const Driver* driver;
    const Clock* clock;
    Statistics* statistics;
    Advisor* advisor;
    CUdevice device;
    CUcontext context;  // the primary context, retained by the caller
  };
  // Makes the copy streams and starts no thread yet. `host_location`: where host blocks go in mapped mode.
  static Result<std::unique_ptr<DeviceMemory>> open(const Parts& parts, const Settings& settings,
                                                    const AddressWindows& windows,
                                                    CUmemLocation host_location);
  ~DeviceMemory();

  void start_thread();
  // Stops the thread. `forked`: there is no thread in this process.
  void go_passive(bool forked);
  // Between the two the engine's thread does nothing: pause() returns when it has ended what it was at.
  void pause();
  void resume();
  // The context is gone (reset): mappings and blocks, which it does not own, are given back.
  void abandon();
  bool turn() { return engine_->turn(); }  // tests without a thread

  Result<CUdeviceptr> allocate(const AllocationAsk& ask, CUstream stream, std::uint64_t thread);
  // False: no live allocation starts there. All work enqueued so far has been waited for by the caller.
  bool free_now(CUdeviceptr address);
  bool free_behind(CUdeviceptr address, CUstream stream, std::uint64_t thread);
  // Behind all that is enqueued, without a wait.
  bool free_behind_all(CUdeviceptr address);
  // What had been numbered when a wait for the whole context began is done.
  [[nodiscard]] std::uint64_t last_number();
  void context_waited(std::uint64_t number);
  [[nodiscard]] bool idle();
  // The program has been given this code: whether the context is lost need not be found out.
  void hear(CUresult code);
  // A sticky error: the driver has the answer to everything from now on.
  [[nodiscard]] bool context_lost() const { return state_.context_lost.load(std::memory_order_relaxed); }

  // While everything fits: see fast_path.hpp.
  bool enter_fast(CUstream stream, std::span<const CUdeviceptr> pointers) {
    return fast_path_.enter(stream, pointers);
  }
  void left_fast() { fast_path_.left(); }
  [[nodiscard]] std::uint64_t passed_fast() const { return fast_path_.passed(); }
  Result<InFlight*> admit(const AccessAsk& ask) { return admission_.admit(ask); }
  void leave(InFlight* access, CUstream stream);
  Admission::Alias alias(CUdeviceptr address) { return admission_.alias(address); }
  void stream_about_to_be_destroyed(CUstream stream);
  void context_about_to_be_destroyed(CUcontext context);
  // Until released, no stream is marked or asked by us; `stream` has what it lacks of markers before.
  void hold_markers(CUstream stream, std::uint64_t thread);
  void release_markers();

  // Its address was handed to hardware, another process or a library: the allocation there comes into HBM and
  // stays where it is until it is freed. False: that would be more than half of HBM, or could not be soon
  // enough (DESIGN 6.4).
  bool freeze(CUdeviceptr address, std::uint64_t thread);
  // A descriptor names the allocation there, so that every kernel may touch it: until the hold is let go, at
  // the latest until it is freed.
  std::uint64_t hold(CUdeviceptr address);
  void hold_until_freed(CUdeviceptr address);
  void let_go(std::uint64_t hold);

  // Lowers the HBM budget by `by` and waits, at most `limit`, for blocks to go back to the driver.
  bool give_back_to_driver(Bytes by, Nanoseconds limit);

  // Freed memory that nobody uses, and free blocks, go back to the driver now.
  void give_idle_back();

  struct Figures {
    Bytes hbm_budget;
    Bytes charged;
    Bytes capacity;
  };
  Figures figures();
  struct Found {
    Allocation allocation;
    CUdeviceptr base = 0;
  };
  std::optional<Found> find(CUdeviceptr address);
  // Of the allocation that the address lies in; false: there is none.
  bool set_synchronous(CUdeviceptr address, bool synchronous);
  // The range starts in a live allocation and ends in the memory behind it.
  [[nodiscard]] bool is_live_range(CUdeviceptr address, Bytes size);
  [[nodiscard]] const Statistics& statistics() const { return state_.statistics; }
  MemoryState& state() { return state_; }

 private:
  Engine::Readers open_readers();
  DeviceMemory(const Parts& parts, const Settings& settings, const AddressWindows& windows);
  void run();
  bool take_turn(std::unique_lock<std::mutex>& lock);
  void record_marker(const Use& use, CUstream stream);
  void free_pending(CUdeviceptr address, const Use& pending);
  void give_up(GroupIndex group);
  void wait_until_given_up(std::unique_lock<std::mutex>& lock, GroupIndex group);

  const Parts parts_;
  MemoryState state_;
  FastPath fast_path_;
  Heap heap_;
  Admission admission_;
  RangeAllocator alias_ranges_;
  std::unique_ptr<BlockPool> hbm_;
  std::unique_ptr<BlockPool> host_;
  std::unique_ptr<Engine> engine_;
  std::thread thread_;
  bool stop_ = false;
  bool paused_ = false;
  bool turning_ = false;
};

}  // namespace tencache::vmm
