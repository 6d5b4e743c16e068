// The runtime behind its face: finds the device a call is about and hands it to vmm. Made by start(). Thread
// rule: as Runtime's. Failure rule: as Runtime's.
#pragma once

#include <array>
#include <atomic>
#include <mutex>

#include "src/base/options.hpp"
#include "src/runtime/managed_device.hpp"
#include "src/runtime/pools.hpp"
#include "src/runtime/runtime.hpp"

namespace tencache::runtime {

class RuntimeImpl final : public Runtime {
 public:
  RuntimeImpl(const Driver& driver, const Options& options, int device_count);

  Arena arena() const noexcept override;
  Verdict allocate(const AllocationRequest& request, CUdeviceptr* address,
                   CUresult* result) noexcept override;
  Verdict free_sync(CUdeviceptr address, CUresult* result) noexcept override;
  Verdict free_in_capture(CUdeviceptr address, CUresult* result) noexcept override;
  Verdict free_async(CUdeviceptr address, Stream stream, CUresult* result) noexcept override;
  void pool_created(CUmemoryPool pool, const CUmemPoolProps& properties) noexcept override;
  void pool_destroyed(CUmemoryPool pool) noexcept override;
  void pool_shared(CUmemoryPool pool, std::span<const CUmemAccessDesc> with) noexcept override;
  void pool_trimmed(CUmemoryPool pool) noexcept override;
  void pools_changed() noexcept override;
  void pool_attribute_set(CUmemoryPool pool, CUmemPool_attribute attribute) noexcept override;
  void add_pool_use(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) noexcept override;
  Admission before(const Access& access) noexcept override;
  void after(const Access& access, std::uint64_t ticket, CUresult result) noexcept override;
  Passage enter_light(Stream stream, std::span<const CUdeviceptr> pointers) noexcept override;
  void left_light(Passage passage) noexcept override;
  bool freeze(CUdeviceptr address) noexcept override;
  std::uint64_t hold(CUdeviceptr address) noexcept override;
  void hold_until_freed(CUdeviceptr address) noexcept override;
  void let_go(CUdeviceptr address, std::uint64_t hold) noexcept override;
  bool make_room_for_pass_through(Bytes wanted) noexcept override;
  void stream_synchronized(Stream stream) noexcept override;
  void context_synchronized() noexcept override;
  void synchronization_failed(CUresult result) noexcept override;
  void stream_about_to_be_destroyed(CUstream stream) noexcept override;
  void context_about_to_be_destroyed(CUcontext context) noexcept override;
  void capture_begins(Stream stream) noexcept override;
  void capture_has_begun() noexcept override;
  void primary_context_may_go(CUdevice device) noexcept override;
  void primary_context_stays(CUdevice device) noexcept override;
  void primary_context_is_gone(CUdevice device) noexcept override;
  bool memory_info(std::size_t* free_bytes, std::size_t* total_bytes) noexcept override;
  bool total_memory(CUdevice device, std::size_t* bytes) noexcept override;
  bool address_range(CUdeviceptr address, CUdeviceptr* base, std::size_t* size) noexcept override;
  bool pointer_attribute(void* data, CUpointer_attribute attribute, CUdeviceptr address,
                         CUresult* result) noexcept override;
  bool set_pointer_attribute(const void* value, CUpointer_attribute attribute, CUdeviceptr address,
                             CUresult* result) noexcept override;
  [[nodiscard]] unsigned kept_context_flags() const noexcept override { return kept_context_flags_; }
  void go_passive() noexcept override;
  void write_traces() noexcept;
  void passed_through(std::uint64_t calls) noexcept override;
  [[nodiscard]] const Statistics* statistics() const noexcept override { return &statistics_; }
  void print_summary() noexcept override;

 private:
  static constexpr std::size_t kMostDevices = 64;
  struct Slot {
    std::atomic<ManagedDevice*> managed{nullptr};
    bool tried = false;  // under opening_
  };

  // The managed device whose primary context is current; `may_open` makes it managed.
  ManagedDevice* current_device(bool may_open) noexcept;
  ManagedDevice* any_device() noexcept;
  ManagedDevice* open_current(CUcontext context) noexcept;
  ManagedDevice* opened(CUdevice device) noexcept;  // null: not managed so far
  ManagedDevice* device_at(CUdeviceptr address) noexcept;
  ManagedDevice* device_of(const Access& access) noexcept;
  ManagedDevice* device_of_work(std::span<const CUdeviceptr> pointers) noexcept;
  bool names_others(const ManagedDevice& device, std::span<const CUdeviceptr> pointers) noexcept;
  bool freeze_others(const ManagedDevice& device, const Access& access) noexcept;
  [[nodiscard]] std::uint64_t slice() const noexcept { return std::uint64_t{1} << slice_shift_; }
  bool reserve_arena();
  void give_arena_back();
  CUresult synchronize(const ManagedDevice& device) noexcept;
  CUresult make_synchronous(const ManagedDevice& device) noexcept;
  void count_freed(const vmm::DeviceMemory::Found& freed) noexcept;
  // False: the driver has the request, the pool or the code.
  bool is_served(const AllocationRequest& request, ManagedDevice& device, PoolId* pool) noexcept;
  void count_kind(AccessKind kind) noexcept;
  struct PieceAcross {
    std::uint64_t offset;
    Rows rows;
    CUdeviceptr destination;
    CUdeviceptr source;
  };
  CUresult copy_across(ManagedDevice& to, ManagedDevice& from, const Access& access) noexcept;
  CUresult copy_piece_across(ManagedDevice& to, ManagedDevice& from, const Access& access,
                             const PieceAcross& piece) noexcept;
  CUresult issue_at_aliases(ManagedDevice& device, const Access& access) noexcept;
  CUresult issue_in_parts(ManagedDevice& device, const Access& access) noexcept;
  CUresult issue_part(ManagedDevice& device, const Access& access, std::uint64_t offset,
                      const Rows& rows) noexcept;

  const Driver& driver_;
  const Options options_;
  const MonotonicClock clock_;
  Statistics statistics_;
  Pools pools_;
  const Nanoseconds started_at_;
  const int device_count_;
  const pid_t process_;
  std::mutex opening_;
  std::array<Slot, kMostDevices> slots_;
  std::atomic<CUdeviceptr> arena_base_{0};
  std::atomic<std::uint64_t> arena_size_{0};
  vmm::ReservedRange arena_range_;
  unsigned slice_shift_ = 0;  // the arena in powers of two, one for each device; 0: there is none
  std::atomic<bool> passive_{false};
  std::atomic<unsigned> kept_context_flags_{0};
  std::atomic<bool> several_managed_{false};  // more than one device has been opened
};

// Names the calling thread, for its per-thread default stream.
std::uint64_t this_thread();

// What the access asks of vmm. Its spans live until the thread's next.
vmm::AccessAsk ask_of(const Access& access, const Arena& arena);

// Pointer attributes of a managed allocation, MEMPOOL_HANDLE excepted, as cudaMalloc's memory has them;
// false: ask the driver.
bool managed_pointer_attribute(const ManagedDevice& device, const vmm::DeviceMemory::Found& found,
                               CUpointer_attribute attribute, CUdeviceptr address, void* data,
                               CUresult* result) noexcept;

}  // namespace tencache::runtime
