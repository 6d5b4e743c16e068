#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "src/base/log.hpp"
#include "src/base/summary.hpp"
#include "src/runtime/host_memory.hpp"
#include "src/runtime/runtime_impl.hpp"
#include "src/runtime/trace_file.hpp"

namespace tencache::runtime {

namespace {

constexpr std::uint64_t kAddressesPerByte = 4;  // of all tiers: freed ranges rest before they are reused
constexpr Bytes kLeastArena = 1_GiB;

}  // namespace

std::uint64_t this_thread() {
  static std::atomic<std::uint64_t> last{0};
  thread_local const std::uint64_t own = ++last;
  return own;
}

Runtime* start(const Driver& driver, const Options& options) noexcept {
  int count = 0;
  if (driver.cuDeviceGetCount(&count) != CUDA_SUCCESS || count == 0) return nullptr;
  return new RuntimeImpl(driver, options, count);  // lives as long as the process
}

RuntimeImpl::RuntimeImpl(const Driver& driver, const Options& options, int device_count)
    : driver_(driver),
      options_(options),
      pools_(driver),
      started_at_(clock_.now()),
      device_count_(std::min<int>(device_count, kMostDevices)),
      process_(getpid()) {}

Arena RuntimeImpl::arena() const noexcept {
  return {arena_base_.load(std::memory_order_relaxed), arena_size_.load(std::memory_order_acquire)};
}

// ---- which device

ManagedDevice* RuntimeImpl::current_device(bool may_open) noexcept {
  if (passive_.load(std::memory_order_relaxed)) return nullptr;
  CUcontext context = nullptr;
  if (driver_.cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == nullptr) return nullptr;
  for (int i = 0; i < device_count_; ++i) {
    ManagedDevice* managed = slots_[static_cast<std::size_t>(i)].managed.load(std::memory_order_acquire);
    if (managed != nullptr && managed->context == context) return managed;
  }
  return may_open ? open_current(context) : nullptr;
}

ManagedDevice* RuntimeImpl::open_current(CUcontext context) noexcept {
  CUdevice device = 0;
  if (driver_.cuCtxGetDevice(&device) != CUDA_SUCCESS || device < 0 || device >= device_count_)
    return nullptr;
  const std::lock_guard<std::mutex> lock(opening_);
  Slot& slot = slots_[static_cast<std::size_t>(device)];
  if (slot.managed.load() != nullptr || slot.tried) {
    ManagedDevice* managed = slot.managed.load();
    return managed != nullptr && managed->context == context ? managed : nullptr;
  }
  CUcontext primary = nullptr;
  if (driver_.cuDevicePrimaryCtxRetain(&primary, device) != CUDA_SUCCESS) return nullptr;
  if (primary != context) {  // another context's memory is not managed
    driver_.cuDevicePrimaryCtxRelease_v2(device);
    return nullptr;
  }
  slot.tried = true;
  Status why;
  if (reserve_arena()) {
    const CUdeviceptr base = arena_base_ + slice() * static_cast<unsigned>(device);
    auto opened =
        open_device({&driver_, &clock_, &statistics_, &options_, {base, Bytes(slice())}}, device, primary);
    if (opened.ok()) {
      const auto is_managed = [](const Slot& other) { return other.managed.load() != nullptr; };
      if (std::any_of(slots_.begin(), slots_.end(), is_managed)) several_managed_.store(true);
      slot.managed.store(opened->release(), std::memory_order_release);
      arena_size_.store(slice() * static_cast<unsigned>(device_count_), std::memory_order_release);
      return slot.managed.load();
    }
    why = opened.status();
  } else {
    why = Status(StatusCode::kNotSupported, "the driver grants no address range");
  }
  give_arena_back();
  driver_.cuDevicePrimaryCtxRelease_v2(device);
  log::warn("device {} is left to the driver, memory cannot be oversubscribed: {} (code {})", device,
            why.what(), why.driver_code());
  return nullptr;
}

bool RuntimeImpl::reserve_arena() {
  if (slice_shift_ != 0) return true;
  std::size_t hbm = 0;
  CUdevice device = 0;
  driver_.cuCtxGetDevice(&device);
  driver_.cuDeviceTotalMem_v2(&hbm, device);
  const auto devices = std::bit_ceil(static_cast<unsigned>(device_count_));
  const Bytes most = Bytes(std::bit_ceil((host_memory().count() + hbm) * kAddressesPerByte)) * devices;
  Result<vmm::ReservedRange> range = vmm::reserve_range(driver_, most, kLeastArena * devices);
  if (!range.ok()) return false;
  arena_range_ = *range;
  slice_shift_ = static_cast<unsigned>(std::countr_zero(range->size.count() / devices));
  arena_base_.store(range->base, std::memory_order_relaxed);
  return true;
}

// No device could be opened in it.
void RuntimeImpl::give_arena_back() {
  if (arena_size_.load() != 0 || slice_shift_ == 0) return;
  driver_.cuMemAddressFree(arena_range_.base, arena_range_.size.count());
  slice_shift_ = 0;
}

ManagedDevice* RuntimeImpl::device_at(CUdeviceptr address) noexcept {
  const Arena whole = arena();
  if (address - whole.base >= whole.size || passive_.load(std::memory_order_relaxed)) return nullptr;
  return slots_[(address - whole.base) >> slice_shift_].managed.load(std::memory_order_acquire);
}

// Kernels by where they run; a copy, or what is only recorded, by what it touches; an access without
// addresses belongs to the current context.
ManagedDevice* RuntimeImpl::device_of(const Access& access) noexcept {
  if (arena().size == 0) return nullptr;
  if (!access.pointers.empty() && !access.recorded) return device_of_work(access.pointers);
  if (!access.pointers.empty()) return device_at(access.pointers.front());
  if (access.destination.size.count() > 0) return device_at(access.destination.base);
  if (access.source.size.count() > 0) return device_at(access.source.base);
  return current_device(false);
}

// ---- accesses

namespace {

constexpr Bytes kMostScanned = 1_MiB;  // of what a copy brings from the host

// The words of a copy's source that are addresses of ours.
std::span<const CUdeviceptr> addresses_in(const Access& access, const Arena& arena) {
  thread_local std::vector<CUdeviceptr> found;
  found.clear();
  if (access.host_source == nullptr || access.host_source_size > kMostScanned) return found;
  const auto* bytes = static_cast<const unsigned char*>(access.host_source);
  for (std::uint64_t at = 0; at + sizeof(CUdeviceptr) <= access.host_source_size.count();
       at += sizeof(CUdeviceptr)) {
    CUdeviceptr word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    if (word - arena.base < arena.size) found.push_back(word);
  }
  return found;
}

// Forwarded as it is even where some of what it touches lies on the host: kernels may, and what is recorded
// is judged by its mapping.
bool is_forwarded_from_host(const Access& access) {
  return access.kind == AccessKind::kLaunch || access.kind == AccessKind::kGraph || access.recorded;
}

std::uint64_t ticket_of(vmm::InFlight* access) { return reinterpret_cast<std::uint64_t>(access); }

}  // namespace

vmm::AccessAsk ask_of(const Access& access, const Arena& arena) {
  vmm::AccessAsk ask;
  if (access.kind == AccessKind::kCopy) {
    const bool seen = access.host_source != nullptr && access.host_source_size <= kMostScanned;
    ask.copies = access.source.size.count() > 0;
    ask.unseen_bytes = access.destination.size.count() > 0 && !ask.copies && !seen;
    ask.addresses = addresses_in(access, arena);
  }
  ask.stream = access.stream.handle;
  ask.thread = this_thread();
  ask.signature = access.signature != 0
                      ? access.signature
                      : (access.destination.size.count() << 3) | static_cast<std::uint64_t>(access.kind);
  ask.opaque = access.opaque;
  ask.may_use_aliases = access.parts != nullptr;
  ask.may_run_from_host = is_forwarded_from_host(access);
  ask.host_wait = access.kind == AccessKind::kHostFunction || access.kind == AccessKind::kStreamWait ||
                  access.waits_for_host;
  ask.enqueues = !access.recorded;
  ask.pointers = access.pointers;
  ask.ranges = {
      {{access.destination.base, access.destination.size}, {access.source.base, access.source.size}}};
  return ask;
}

void RuntimeImpl::count_kind(AccessKind kind) noexcept {
  if (kind == AccessKind::kLaunch) count(statistics_.launches);
  if (kind == AccessKind::kCopy) count(statistics_.copies);
  if (kind == AccessKind::kMemset) count(statistics_.memsets);
}

runtime::Admission RuntimeImpl::before(const Access& access) noexcept {
  ManagedDevice* device = device_of(access);
  if (device == nullptr) return {true, CUDA_SUCCESS, 0};
  count_kind(access.kind);
  ManagedDevice* const other = access.source.size.count() > 0 ? device_at(access.source.base) : device;
  if (other != nullptr && other != device && !access.recorded) {
    return {false, copy_across(*device, *other, access), 0};
  }
  for (const Range& range : {access.destination, access.source}) {
    if (range.size.count() > 0 && !device->memory->is_live_range(range.base, range.size)) {
      return {false, CUDA_ERROR_INVALID_VALUE, 0};
    }
  }
  if (!freeze_others(*device, access)) {
    log::warn("out of memory: a graph touches more of another device than can stay in its HBM");
    return {false, CUDA_ERROR_OUT_OF_MEMORY, 0};
  }
  const Result<vmm::InFlight*> admitted = device->memory->admit(ask_of(access, arena()));
  if (admitted.ok() && (*admitted)->from_host && !is_forwarded_from_host(access)) {
    count(statistics_.split_copies);
    const CUresult issued = issue_at_aliases(*device, access);
    device->memory->leave(*admitted, access.stream.handle);
    return {false, issued, 0};
  }
  if (admitted.ok()) return {true, CUDA_SUCCESS, ticket_of(*admitted)};
  if (access.parts != nullptr && !is_forwarded_from_host(access)) {
    count(statistics_.split_copies);
    return {false, issue_in_parts(*device, access), 0};
  }
  log::warn("out of memory: {}; HBM for it: TENCACHE_HBM", admitted.status().what());
  return {false, CUDA_ERROR_OUT_OF_MEMORY, 0};
}

void RuntimeImpl::after(const Access& access, std::uint64_t ticket, CUresult) noexcept {
  if (ticket == 0) return;
  ManagedDevice* device = device_of(access);
  if (device == nullptr) return;
  device->memory->leave(reinterpret_cast<vmm::InFlight*>(ticket), access.stream.handle);
}

Passage RuntimeImpl::enter_light(Stream stream, std::span<const CUdeviceptr> pointers) noexcept {
  if (arena().size == 0) return {nullptr};
  ManagedDevice* device = device_of_work(pointers);
  const bool entered = device != nullptr && !names_others(*device, pointers) &&
                       device->memory->enter_fast(stream.handle, pointers);
  return {entered ? device->memory.get() : nullptr};
}

void RuntimeImpl::left_light(Passage passage) noexcept {
  static_cast<vmm::DeviceMemory*>(passage.memory)->left_fast();
}

bool RuntimeImpl::freeze(CUdeviceptr address) noexcept {
  ManagedDevice* device = device_at(address);
  return device == nullptr || device->memory->freeze(address, this_thread());
}

std::uint64_t RuntimeImpl::hold(CUdeviceptr address) noexcept {
  ManagedDevice* device = device_at(address);
  return device == nullptr ? 0 : device->memory->hold(address);
}

void RuntimeImpl::hold_until_freed(CUdeviceptr address) noexcept {
  if (ManagedDevice* device = device_at(address)) device->memory->hold_until_freed(address);
}

void RuntimeImpl::let_go(CUdeviceptr address, std::uint64_t hold) noexcept {
  if (ManagedDevice* device = device_at(address)) device->memory->let_go(hold);
}

// A thread without a context may ask as well.
ManagedDevice* RuntimeImpl::any_device() noexcept {
  if (ManagedDevice* device = current_device(false)) return device;
  for (Slot& slot : slots_)
    if (ManagedDevice* device = slot.managed.load(std::memory_order_acquire)) return device;
  return nullptr;
}

bool RuntimeImpl::make_room_for_pass_through(Bytes wanted) noexcept {
  ManagedDevice* device = any_device();
  if (device == nullptr) return false;
  const Bytes least = std::max(device->settings.hbm_budget / 16, device->settings.large_block * 2);
  std::size_t free_bytes = 0;
  std::size_t total = 0;
  if (driver_.cuMemGetInfo_v2(&free_bytes, &total) != CUDA_SUCCESS) free_bytes = 0;
  const Bytes missing = wanted > Bytes(free_bytes) ? wanted - Bytes(free_bytes) : Bytes();
  return device->memory->give_back_to_driver(std::max(least, missing + device->settings.large_block),
                                             1000_ms);
}

// The markers tell; a synchronisation of one thread says nothing about what others enqueued meanwhile.
void RuntimeImpl::stream_synchronized(Stream) noexcept {}
void RuntimeImpl::context_synchronized() noexcept {}

void RuntimeImpl::synchronization_failed(CUresult result) noexcept {
  if (ManagedDevice* device = current_device(false)) device->memory->hear(result);
}

void RuntimeImpl::stream_about_to_be_destroyed(CUstream stream) noexcept {
  if (ManagedDevice* device = current_device(false)) device->memory->stream_about_to_be_destroyed(stream);
}

void RuntimeImpl::context_about_to_be_destroyed(CUcontext context) noexcept {
  for (Slot& slot : slots_) {
    ManagedDevice* device = slot.managed.load();
    if (device != nullptr && device->context != context)
      device->memory->context_about_to_be_destroyed(context);
  }
}

namespace {

// Of the call this thread is in: a device may be opened or reset by another thread meanwhile.
std::vector<vmm::DeviceMemory*>& held_markers() {
  thread_local std::vector<vmm::DeviceMemory*> held;
  return held;
}

}  // namespace

void RuntimeImpl::capture_begins(Stream stream) noexcept {
  for (Slot& slot : slots_) {
    ManagedDevice* device = slot.managed.load();
    if (device == nullptr) continue;
    device->memory->hold_markers(stream.handle, this_thread());
    held_markers().push_back(device->memory.get());
  }
}

void RuntimeImpl::capture_has_begun() noexcept {
  for (vmm::DeviceMemory* memory : held_markers()) memory->release_markers();
  held_markers().clear();
}

ManagedDevice* RuntimeImpl::opened(CUdevice device) noexcept {
  if (device < 0 || device >= device_count_) return nullptr;
  return slots_[static_cast<std::size_t>(device)].managed.load();
}

void RuntimeImpl::primary_context_may_go(CUdevice device) noexcept {
  if (ManagedDevice* managed = opened(device)) managed->memory->pause();
}

void RuntimeImpl::primary_context_stays(CUdevice device) noexcept {
  if (ManagedDevice* managed = opened(device)) managed->memory->resume();
}

void RuntimeImpl::primary_context_is_gone(CUdevice device) noexcept {
  if (device < 0 || device >= device_count_) return;
  const std::lock_guard<std::mutex> lock(opening_);
  Slot& slot = slots_[static_cast<std::size_t>(device)];
  slot.tried = false;
  ManagedDevice* managed = slot.managed.exchange(nullptr);
  if (managed != nullptr) managed->memory->abandon();  // calls may still be in it: it is not deleted
}

// ---- the end

void RuntimeImpl::go_passive() noexcept {
  passive_.store(true);
  const bool forked = getpid() != process_;
  for (Slot& slot : slots_) {
    ManagedDevice* managed = slot.managed.load();
    if (managed != nullptr) managed->memory->go_passive(forked);
  }
  if (!forked && !options_.trace.view().empty()) write_traces();
}

// Of the first device that a step was learned on.
void RuntimeImpl::write_traces() noexcept {
  std::optional<policy::Trace> step;
  for (Slot& slot : slots_) {
    const ManagedDevice* managed = slot.managed.load();
    if (managed != nullptr && !step) step = managed->advisor->recorded_step();
  }
  write_trace(step, options_.trace);
}

void RuntimeImpl::passed_through(std::uint64_t calls) noexcept { count(statistics_.passed_through, calls); }

void RuntimeImpl::print_summary() noexcept {
  SummaryFacts facts{};
  for (Slot& slot : slots_) {
    const ManagedDevice* managed = slot.managed.load();
    if (managed == nullptr) continue;
    facts.hbm_limit += managed->settings.hbm_budget;
    facts.hbm_device += managed->total;
    facts.host_limit += managed->settings.host_budget;
    count(statistics_.launches, managed->memory->passed_fast());
    count(statistics_.accesses, managed->memory->passed_fast());
  }
  facts.elapsed = clock_.now() - started_at_;
  write_summary(statistics_, facts, options_.summary);
}

}  // namespace tencache::runtime
