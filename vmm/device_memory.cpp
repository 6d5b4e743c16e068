#include "vmm/device_memory.hpp"

#include <chrono>

#include "src/base/log.hpp"
#include "src/driver/sticky.hpp"

namespace tencache::vmm {

namespace {

constexpr auto kLooksAgainAfter = std::chrono::milliseconds(1);

constexpr Nanoseconds kLongestGivingBack = 1000_ms;

// An access has to find room for one more extent in each direction while everything is promised.
Bytes capacity(const Settings& settings) {
  const Bytes all = settings.hbm_budget + settings.host_budget;
  const Bytes slack = settings.large_block * 2;
  return all > slack ? all - slack : Bytes();
}

}  // namespace

DeviceMemory::DeviceMemory(const Parts& parts, const Settings& settings, const AddressWindows& windows)
    : parts_(parts),
      state_(settings, *parts.clock, *parts.statistics, *parts.advisor, windows.arena, windows.arena_size),
      fast_path_(state_),
      heap_(state_, windows.arena, windows.arena_size, capacity(settings)),
      admission_(state_),
      alias_ranges_(windows.aliases, windows.aliases_size) {}

Result<std::unique_ptr<DeviceMemory>> DeviceMemory::open(const Parts& parts, const Settings& settings,
                                                         const AddressWindows& windows,
                                                         CUmemLocation host_location) {
  std::unique_ptr<DeviceMemory> memory(new DeviceMemory(parts, settings, windows));
  if (!memory->state_.units.valid()) return Status(StatusCode::kOutOfMemory, "no memory for the unit table");
  Result<Copier> copier = Copier::open(*parts.driver);
  if (!copier.ok()) return copier.status();
  const auto vmm_source = [&](CUmemLocation location) {
    return std::make_unique<VmmBlockSource>(*parts.driver, location, parts.device, settings.small_block,
                                            &memory->alias_ranges_);
  };
  const BlockPool::Sizes sizes{settings.small_block, settings.large_block};
  Statistics& statistics = memory->state_.statistics;
  memory->hbm_ = std::make_unique<BlockPool>(vmm_source({CU_MEM_LOCATION_TYPE_DEVICE, {parts.device}}), sizes,
                                             settings.hbm_budget, statistics);
  std::unique_ptr<BlockSource> host_source;
  if (settings.detached) {
    host_source = std::make_unique<PinnedBlockSource>(*parts.driver);
  } else {
    host_source = vmm_source(host_location);
  }
  memory->host_ =
      std::make_unique<BlockPool>(std::move(host_source), sizes, settings.host_budget, statistics);
  const Engine::Readers readers = memory->open_readers();
  memory->engine_ = std::make_unique<Engine>(memory->state_, memory->heap_, *parts.driver, *copier,
                                             Mapper(*parts.driver, parts.device, statistics), *memory->hbm_,
                                             *memory->host_, readers, memory->fast_path_);
  return memory;
}

Engine::Readers DeviceMemory::open_readers() {
  Engine::Readers readers;
  Settings& settings = state_.settings;
  Result<ReadingKernel> kernel = ReadingKernel::open(*parts_.driver);
  Status why = kernel.status();
  if (kernel.ok()) readers.kernel = *kernel;
  if (kernel.ok() && settings.fingerprints) {
    const Result<Fingerprints> prints = Fingerprints::open(*parts_.driver, *kernel);
    if (prints.ok()) readers.prints = *prints;
    if (!prints.ok()) {
      log::warn("{} (code {}); what was touched is copied out again each time", prints.status().what(),
                prints.status().driver_code());
    }
  }
  if (kernel.ok() && settings.census != Settings::Census::kOff) {
    const Census::Arena arena{state_.units.base(), settings.small_block};
    const Result<Census> census = Census::open(*parts_.driver, *kernel, arena);
    if (census.ok()) readers.census = *census;
    why = census.status();
  }
  if (!why.ok()) {
    log::warn("{} (code {}); addresses that kernels write into memory are not followed", why.what(),
              why.driver_code());
    settings.census = Settings::Census::kOff;
  }
  return readers;
}

DeviceMemory::~DeviceMemory() {
  go_passive(false);
  if (engine_ != nullptr) engine_->close(Engine::Context::kAlive);
}

void DeviceMemory::abandon() {
  go_passive(false);
  engine_->close(Engine::Context::kGone);
  hbm_->set_budget(Bytes());
  host_->set_budget(Bytes());
}

// ---- allocation

Result<CUdeviceptr> DeviceMemory::allocate(const AllocationAsk& ask, CUstream stream, std::uint64_t thread) {
  const std::lock_guard<std::mutex> lock(state_.mutex);
  AllocationAsk full = ask;
  if (ask.async) full.stream = state_.order.index(stream, thread);
  Result<CUdeviceptr> address = heap_.allocate(full);
  if (!address.ok()) count(state_.statistics.refusals);
  if (heap_.waits_for_streams()) state_.wake_engine();
  return address;
}

bool DeviceMemory::free_now(CUdeviceptr address) {
  std::unique_lock<std::mutex> lock(state_.mutex);
  if (heap_.find_base(address) == nullptr) return false;
  heap_.free(address, nullptr);
  const GroupIndex index = state_.units.group_at(address);
  if (!state_.groups[index].freed) return true;
  if (state_.settings.detached) wait_until_given_up(lock, index);
  return true;
}

bool DeviceMemory::free_behind(CUdeviceptr address, CUstream stream, std::uint64_t thread) {
  Use pending{};
  {
    const std::lock_guard<std::mutex> lock(state_.mutex);
    if (heap_.find_base(address) == nullptr) return false;
    pending = state_.order.number_access(state_.order.index(stream, thread));
    free_pending(address, pending);
  }
  record_marker(pending, stream);  // whoever asks for that size next can know when it is done
  return true;
}

bool DeviceMemory::free_behind_all(CUdeviceptr address) {
  const std::lock_guard<std::mutex> lock(state_.mutex);
  if (heap_.find_base(address) == nullptr) return false;
  free_pending(address, {kEveryStream, state_.order.last_number()});
  return true;
}

void DeviceMemory::free_pending(CUdeviceptr address, const Use& pending) {
  heap_.free(address, &pending);
  const GroupIndex index = state_.units.group_at(address);
  if (state_.settings.detached && state_.groups[index].freed) give_up(index);
}

void DeviceMemory::give_up(GroupIndex group) {
  state_.given_up.push_back(group);
  state_.wake_engine();
}

// Detached: the address is dead when the free returns, as the strict checker promises.
void DeviceMemory::wait_until_given_up(std::unique_lock<std::mutex>& lock, GroupIndex index) {
  give_up(index);
  while (!state_.passive) {
    bool left = false;
    for (const ExtentIndex extent : state_.groups[index].extents) {
      left |= state_.extents[extent].state != ExtentState::kAbsent;
    }
    if (!left || !state_.groups[index].freed) return;
    state_.settled.wait_for(lock, kLooksAgainAfter);
  }
}

std::uint64_t DeviceMemory::last_number() {
  const std::lock_guard<std::mutex> lock(state_.mutex);
  return state_.order.last_number();
}

void DeviceMemory::context_waited(std::uint64_t number) {
  const std::lock_guard<std::mutex> lock(state_.mutex);
  const Nanoseconds now = state_.clock.now();
  for (StreamIndex i = 0; i < state_.order.stream_count(); ++i) {
    StreamOrder::Stream& stream = state_.order.stream(i);
    if (stream.completed >= std::min<std::uint64_t>(number, stream.last_enqueued)) continue;
    state_.advisor.completed(i, number, stream.last_completion_at, now);
    stream.last_completion_at = now;
  }
  std::vector<CUevent> ended;
  state_.order.all_completed_up_to(number, &ended);
  state_.free_events.insert(state_.free_events.end(), ended.begin(), ended.end());
}

void DeviceMemory::hear(CUresult code) {
  if (!is_sticky(code)) return;
  const std::lock_guard<std::mutex> lock(state_.mutex);
  state_.lose_context();
}

bool DeviceMemory::idle() {
  const std::lock_guard<std::mutex> lock(state_.mutex);
  return state_.order.all_ended();
}

// ---- accesses

void DeviceMemory::leave(InFlight* access, CUstream stream) {
  Use use{};
  if (admission_.leave(access, &use)) record_marker(use, stream);
}

// Never in a capture: it would become part of it.
void DeviceMemory::record_marker(const Use& use, CUstream stream) {
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  if (parts_.driver->cuStreamIsCapturing(stream, &capture) != CUDA_SUCCESS) return;
  if (capture != CU_STREAM_CAPTURE_STATUS_NONE) return;
  CUevent event = nullptr;
  {
    const std::lock_guard<std::mutex> lock(state_.mutex);
    if (!state_.free_events.empty()) {
      event = state_.free_events.back();
      state_.free_events.pop_back();
    }
  }
  if (event == nullptr && parts_.driver->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
    return;
  if (parts_.driver->cuEventRecord(event, stream) != CUDA_SUCCESS) {
    parts_.driver->cuEventDestroy_v2(event);  // it may be of another device's context
    return;
  }
  const std::lock_guard<std::mutex> lock(state_.mutex);
  count(state_.statistics.markers);
  state_.order.marker_recorded(use.stream, {event, use.number, state_.clock.now()});
}

void DeviceMemory::stream_about_to_be_destroyed(CUstream handle) {
  std::unique_lock<std::mutex> lock(state_.mutex);
  const StreamIndex index = state_.order.index(handle, 0);
  const std::uint64_t last = state_.order.stream(index).last_enqueued;
  const bool missing = last > state_.order.stream(index).last_marked;
  if (missing && last > state_.order.stream(index).completed) {
    lock.unlock();
    record_marker({index, last}, handle);
    lock.lock();
  }
  while (state_.marking) state_.settled.wait_for(lock, kLooksAgainAfter);
  state_.order.stream_gone(index);
  ++state_.stream_generation;
}

// Its streams go with it.
void DeviceMemory::context_about_to_be_destroyed(CUcontext context) {
  std::vector<CUstream> known;
  {
    const std::lock_guard<std::mutex> lock(state_.mutex);
    for (StreamIndex i = 0; i < state_.order.stream_count(); ++i) {
      const StreamOrder::Stream& stream = state_.order.stream(i);
      if (stream.kind == StreamKind::kNormal && !stream.gone) known.push_back(stream.handle);
    }
  }
  for (const CUstream stream : known) {
    CUcontext its = nullptr;
    const CUresult asked = parts_.driver->cuStreamGetCtx(stream, &its);
    if (asked == CUDA_SUCCESS && its == context) stream_about_to_be_destroyed(stream);
  }
}

void DeviceMemory::hold_markers(CUstream handle, std::uint64_t thread) {
  std::unique_lock<std::mutex> lock(state_.mutex);
  ++state_.markers_held;
  while (state_.marking) state_.settled.wait_for(lock, kLooksAgainAfter);
  const StreamIndex index = state_.order.index(handle, thread);
  const StreamOrder::Stream& stream = state_.order.stream(index);
  const std::uint64_t last = stream.last_enqueued;
  const bool missing = last > std::max(stream.last_marked, stream.completed);
  lock.unlock();
  if (missing) record_marker({index, last}, handle);
}

void DeviceMemory::release_markers() {
  const std::lock_guard<std::mutex> lock(state_.mutex);
  --state_.markers_held;
  state_.wake_engine();
}

// ---- figures

bool DeviceMemory::give_back_to_driver(Bytes by, Nanoseconds limit) {
  const Nanoseconds start = state_.clock.now();
  std::unique_lock<std::mutex> lock(state_.mutex);
  const Bytes asked = state_.lower_hbm_budget_to;  // by somebody before, and not done yet
  const Bytes budget = asked.count() > 0 ? asked : hbm_->budget();
  if (budget <= by) return false;
  state_.lower_hbm_budget_to = budget - by;
  // Also where it takes too long: the budget is lowered.
  const Bytes withheld = std::min(by, heap_.capacity());
  heap_.set_capacity(heap_.capacity() - withheld);
  state_.withheld += withheld;
  state_.wake_engine();
  while (!state_.passive && hbm_->created() > budget - by) {
    if (state_.clock.now() - start > limit) return false;
    state_.settled.wait_for(lock, kLooksAgainAfter);
  }
  return true;
}

void DeviceMemory::give_idle_back() {
  const Nanoseconds start = state_.clock.now();
  std::unique_lock<std::mutex> lock(state_.mutex);
  state_.give_idle_back = true;
  state_.wake_engine();
  while (!state_.passive && state_.give_idle_back && state_.clock.now() - start < kLongestGivingBack) {
    state_.settled.wait_for(lock, kLooksAgainAfter);
  }
}

DeviceMemory::Figures DeviceMemory::figures() {
  const std::lock_guard<std::mutex> lock(state_.mutex);
  return {hbm_->budget(), heap_.charged(), heap_.capacity()};
}

bool DeviceMemory::is_live_range(CUdeviceptr address, Bytes size) {
  const std::lock_guard<std::mutex> lock(state_.mutex);
  return heap_.is_live_range(address, size);
}

std::optional<DeviceMemory::Found> DeviceMemory::find(CUdeviceptr address) {
  const std::lock_guard<std::mutex> lock(state_.mutex);
  const Heap::Place place = heap_.find(address);
  if (place.allocation == nullptr) return std::nullopt;
  return Found{*place.allocation, place.base};
}

bool DeviceMemory::set_synchronous(CUdeviceptr address, bool synchronous) {
  const std::lock_guard<std::mutex> lock(state_.mutex);
  return heap_.set_synchronous(address, synchronous);
}

}  // namespace tencache::vmm
