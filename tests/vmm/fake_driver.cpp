#include "tests/vmm/fake_driver.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace tencache::test {

namespace {
FakeDriver* the_driver = nullptr;  // the driver's functions carry no context
}

using Lock = FakeDriver::Lock;

// The functions that Driver's members point to.
struct FakeCalls {
  static FakeDriver& self() { return *the_driver; }

  static CUresult reserve(CUdeviceptr* address, std::size_t size, std::size_t, CUdeviceptr,
                          unsigned long long) {
    const Lock lock(self().mutex_);
    if (const CUresult failed = self().called("cuMemAddressReserve")) return failed;
    if (size > (1ull << 36)) return CUDA_ERROR_OUT_OF_MEMORY;
    void* range = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
    *address = reinterpret_cast<CUdeviceptr>(range);
    self().reserved_[*address] = size;
    return CUDA_SUCCESS;
  }
  static CUresult address_free(CUdeviceptr address, std::size_t size) {
    const Lock lock(self().mutex_);
    munmap(reinterpret_cast<void*>(address), size);
    self().reserved_.erase(address);
    return CUDA_SUCCESS;
  }
  static CUresult create(CUmemGenericAllocationHandle* handle, std::size_t size,
                         const CUmemAllocationProp* prop, unsigned long long) {
    FakeDriver& fake = self();
    const Lock lock(fake.mutex_);
    if (const CUresult failed = fake.called("cuMemCreate")) return failed;
    if (size == 0 || size % fake.limits_.granularity != 0) return CUDA_ERROR_INVALID_VALUE;
    const bool device = prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    if (device && fake.hbm_created_ + size > fake.limits_.hbm) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!device && !fake.limits_.host_vmm) return CUDA_ERROR_NOT_SUPPORTED;
    auto physical = std::make_shared<FakeDriver::Physical>();
    physical->bytes.assign(size, 0xdb);  // poisoned
    physical->on_device = device;
    if (device) fake.hbm_created_ += size;
    *handle = ++fake.last_handle_;
    fake.handles_[*handle] = physical;
    return CUDA_SUCCESS;
  }
  static void drop_if_unused(FakeDriver& fake, FakeDriver::Physical& physical) {
    if (!physical.released || physical.mappings > 0) return;
    if (physical.on_device) fake.hbm_created_ -= physical.bytes.size();
  }
  static CUresult release(CUmemGenericAllocationHandle handle) {
    FakeDriver& fake = self();
    const Lock lock(fake.mutex_);
    const auto found = fake.handles_.find(handle);
    if (found == fake.handles_.end()) return CUDA_ERROR_INVALID_VALUE;
    found->second->released = true;
    drop_if_unused(fake, *found->second);
    fake.handles_.erase(found);
    return CUDA_SUCCESS;
  }
  static CUresult map(CUdeviceptr address, std::size_t size, std::size_t offset,
                      CUmemGenericAllocationHandle handle, unsigned long long) {
    FakeDriver& fake = self();
    const Lock lock(fake.mutex_);
    fake.some_progress();
    if (const CUresult failed = fake.called("cuMemMap")) return failed;
    const auto found = fake.handles_.find(handle);
    if (offset != 0 || found == fake.handles_.end() || found->second->bytes.size() != size) {
      fake.fault("cuMemMap: wrong handle, offset or size");
      return CUDA_ERROR_INVALID_VALUE;
    }
    const auto next = fake.mappings_.lower_bound(address);
    const bool overlaps_next = next != fake.mappings_.end() && next->first < address + size;
    const bool overlaps_previous =
        next != fake.mappings_.begin() && std::prev(next)->first + std::prev(next)->second.size > address;
    if (overlaps_next || overlaps_previous) {
      fake.fault("cuMemMap: something is mapped there");
      return CUDA_ERROR_INVALID_VALUE;
    }
    ++found->second->mappings;
    fake.mappings_[address] = {size, found->second, false};
    return CUDA_SUCCESS;
  }
  static CUresult unmap(CUdeviceptr address, std::size_t size) {
    FakeDriver& fake = self();
    const Lock lock(fake.mutex_);
    fake.some_progress();
    if (const CUresult failed = fake.called("cuMemUnmap")) return failed;
    const auto found = fake.mappings_.find(address);
    if (found == fake.mappings_.end() || found->second.size != size) {
      fake.fault("cuMemUnmap: not a whole mapping");
      return CUDA_ERROR_INVALID_VALUE;
    }
    --found->second.physical->mappings;
    drop_if_unused(fake, *found->second.physical);
    fake.mappings_.erase(found);
    return CUDA_SUCCESS;
  }
  static CUresult set_access(CUdeviceptr address, std::size_t size, const CUmemAccessDesc*, std::size_t) {
    FakeDriver& fake = self();
    const Lock lock(fake.mutex_);
    fake.some_progress();
    if (const CUresult failed = fake.called("cuMemSetAccess")) return failed;
    std::size_t covered = 0;
    for (auto it = fake.mappings_.lower_bound(address); it != fake.mappings_.end() && covered < size; ++it) {
      if (it->first != address + covered) break;
      it->second.accessible = true;
      covered += it->second.size;
    }
    if (covered == size) return CUDA_SUCCESS;
    fake.fault("cuMemSetAccess: a hole in the range");
    return CUDA_ERROR_INVALID_VALUE;
  }
  static CUresult host_alloc(void** memory, std::size_t size, unsigned) {
    const Lock lock(self().mutex_);
    if (const CUresult failed = self().called("cuMemHostAlloc")) return failed;
    *memory = std::malloc(size);
    self().pinned_.insert(*memory);
    return CUDA_SUCCESS;
  }
  static CUresult free_host(void* memory) {
    const Lock lock(self().mutex_);
    if (self().pinned_.erase(memory) == 0) return CUDA_ERROR_INVALID_VALUE;
    std::free(memory);
    return CUDA_SUCCESS;
  }
  static CUresult attribute(int* value, CUdevice_attribute attribute, CUdevice) {
    const auto found = self().limits_.attributes.find(attribute);
    *value = found == self().limits_.attributes.end() ? 0 : found->second;
    return CUDA_SUCCESS;
  }
  static CUresult granularity(std::size_t* size, const CUmemAllocationProp*,
                              CUmemAllocationGranularity_flags) {
    *size = self().limits_.granularity;
    return CUDA_SUCCESS;
  }

  // ---- streams and events
  static CUresult stream_create(CUstream* stream, unsigned) {
    *stream = self().make_stream();
    return CUDA_SUCCESS;
  }
  static CUresult stream_destroy(CUstream stream) {
    const Lock lock(self().mutex_);
    self().run_all(stream);  // real streams finish what they have; nobody can tell the difference
    self().streams_.erase(stream);
    return CUDA_SUCCESS;
  }
  static CUresult stream_synchronize(CUstream stream) {
    self().run_all(stream);
    return CUDA_SUCCESS;
  }
  static CUresult context_synchronize() {
    const Lock lock(self().mutex_);
    self().run_everything();
    return self().called("cuCtxSynchronize");
  }
  static CUresult stream_query(CUstream stream) {
    FakeDriver& fake = self();
    const Lock lock(fake.mutex_);
    fake.some_progress();
    if (const CUresult failed = fake.called("cuStreamQuery")) return failed;
    return fake.stream_at(stream).operations.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  }
  static CUresult is_capturing(CUstream stream, CUstreamCaptureStatus* status) {
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    const bool implicit = stream == CU_STREAM_LEGACY && self().capture_alive;
    return implicit ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
  }
  static CUresult exchange_capture_mode(CUstreamCaptureMode*) { return CUDA_SUCCESS; }
  static CUresult event_create(CUevent* event, unsigned) {
    FakeDriver& fake = self();
    const Lock lock(fake.mutex_);
    if (const CUresult failed = fake.called("cuEventCreate")) return failed;
    *event = reinterpret_cast<CUevent>(++fake.last_handle_);
    fake.events_[*event] = std::make_shared<FakeDriver::Event>();
    return CUDA_SUCCESS;
  }
  static CUresult event_destroy(CUevent event) {
    const Lock lock(self().mutex_);
    return self().events_.erase(event) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  }
  static CUresult event_record(CUevent event, CUstream stream) {
    FakeDriver& fake = self();
    const Lock lock(fake.mutex_);
    fake.some_progress();
    if (const CUresult failed = fake.called("cuEventRecord")) return failed;
    const std::shared_ptr<FakeDriver::Event> state = fake.events_.at(event);
    state->done = false;
    const std::uint64_t generation = ++state->generation;
    fake.push(stream, {[state, generation](FakeDriver&) {
                if (state->generation == generation) state->done = true;
              }});
    return CUDA_SUCCESS;
  }
  static CUresult event_query(CUevent event) {
    FakeDriver& fake = self();
    const Lock lock(fake.mutex_);
    fake.some_progress();
    if (const CUresult failed = fake.called("cuEventQuery")) return failed;
    return fake.events_.at(event)->done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  }

  // ---- contexts: one, always current
  static CUresult context(CUcontext* context) {
    *context = reinterpret_cast<CUcontext>(0xc0);
    return CUDA_SUCCESS;
  }
  static CUresult set_context(CUcontext) { return CUDA_SUCCESS; }
  static CUresult device(CUdevice* device) {
    *device = 0;
    return CUDA_SUCCESS;
  }
  static CUresult retain(CUcontext* made, CUdevice) { return context(made); }
  static CUresult release_primary(CUdevice) { return CUDA_SUCCESS; }
  static CUresult device_count(int* count) {
    *count = 1;
    return CUDA_SUCCESS;
  }
  static CUresult memory_info(std::size_t* free_bytes, std::size_t* total) {
    const Lock lock(self().mutex_);
    *total = self().limits_.hbm;
    *free_bytes = self().limits_.hbm - self().hbm_created_;
    return CUDA_SUCCESS;
  }

  static CUresult total_memory(std::size_t* total, CUdevice) {
    *total = self().limits_.hbm;
    return CUDA_SUCCESS;
  }

  // ---- copies: addresses are judged at the call and used when the stream gets there
  static unsigned char* host(const void* memory) {
    return static_cast<unsigned char*>(const_cast<void*>(memory));
  }
  static bool judged(std::initializer_list<CUdeviceptr> addresses, std::size_t size) {
    FakeDriver& fake = self();
    for (const CUdeviceptr address : addresses) {
      if (fake.translate(address, size) == nullptr) return false;
    }
    return true;
  }
  static CUresult host_to_device(CUdeviceptr to, const void* from, std::size_t size, CUstream stream) {
    FakeDriver& fake = self();
    const Lock lock(fake.mutex_);
    if (const CUresult failed = fake.called("cuMemcpyHtoDAsync_v2")) return failed;
    if (!judged({to}, size)) return CUDA_ERROR_INVALID_VALUE;
    return fake.move_bytes(
        stream, [to, size](FakeDriver& gpu) { return gpu.translate(to, size); },
        [from](FakeDriver&) { return host(from); }, size);
  }
  static CUresult device_to_host(void* to, CUdeviceptr from, std::size_t size, CUstream stream) {
    FakeDriver& fake = self();
    const Lock lock(fake.mutex_);
    if (const CUresult failed = fake.called("cuMemcpyDtoHAsync_v2")) return failed;
    if (!judged({from}, size)) return CUDA_ERROR_INVALID_VALUE;
    return fake.move_bytes(
        stream, [to](FakeDriver&) { return host(to); },
        [from, size](FakeDriver& gpu) { return gpu.translate(from, size); }, size);
  }
  static CUresult device_to_device(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream stream) {
    FakeDriver& fake = self();
    const Lock lock(fake.mutex_);
    if (const CUresult failed = fake.called("cuMemcpyDtoDAsync_v2")) return failed;
    if (!judged({to, from}, size)) return CUDA_ERROR_INVALID_VALUE;
    return fake.move_bytes(
        stream, [to, size](FakeDriver& gpu) { return gpu.translate(to, size); },
        [from, size](FakeDriver& gpu) { return gpu.translate(from, size); }, size);
  }
  static CUresult fill(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
    FakeDriver& fake = self();
    const Lock lock(fake.mutex_);
    if (const CUresult failed = fake.called("cuMemsetD8Async")) return failed;
    if (!judged({to}, count)) return CUDA_ERROR_INVALID_VALUE;
    fake.push(stream, {[=](FakeDriver& gpu) {
                if (unsigned char* bytes = gpu.translate(to, count)) std::memset(bytes, value, count);
              }});
    return CUDA_SUCCESS;
  }
  // ---- the one kernel of ours, done by the CPU
  static CUresult load_module(CUmodule* module, const void*) {
    *module = reinterpret_cast<CUmodule>(0xa0);
    return CUDA_SUCCESS;
  }
  static CUresult get_function(CUfunction* function, CUmodule, const char*) {
    *function = reinterpret_cast<CUfunction>(0xa1);
    return CUDA_SUCCESS;
  }
  static CUresult unload(CUmodule) { return CUDA_SUCCESS; }
  static CUresult allocate(CUdeviceptr* address, std::size_t asked) {
    const std::size_t granularity = self().limits_.granularity;
    const std::size_t size = (asked + granularity - 1) / granularity * granularity;
    CUmemAllocationProp prop{};
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST;  // outside the HBM of the test
    CUmemGenericAllocationHandle handle = 0;
    if (const CUresult failed = create(&handle, size, &prop, 0)) return failed;
    reserve(address, size, 0, 0, 0);
    map(*address, size, 0, handle, 0);
    return set_access(*address, size, nullptr, 1);
  }
  static CUresult free(CUdeviceptr) { return CUDA_SUCCESS; }
  static CUresult launch(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         CUstream stream, void** parameters, void**) {
    const auto word = [&](int i) { return *static_cast<std::uint64_t*>(parameters[i]); };
    const FakeDriver::Reading reading{word(0),
                                      word(1),
                                      word(2),
                                      word(3),
                                      *static_cast<std::uint32_t*>(parameters[4]),
                                      word(5),
                                      {word(6), word(7)},
                                      *static_cast<vmm::Fingerprint**>(parameters[9])};
    FakeDriver& fake = self();
    const Lock lock(fake.mutex_);
    if (const CUresult failed = fake.called("cuLaunchKernel")) return failed;
    fake.push(stream, {[reading](FakeDriver& gpu) { gpu.read(reading); }});
    return CUDA_SUCCESS;
  }
  static CUresult done(CUresult enqueued) {
    self().run_all(CU_STREAM_LEGACY);
    return enqueued;
  }
  static CUresult fill_now(CUdeviceptr to, unsigned char value, std::size_t count) {
    return done(fill(to, value, count, CU_STREAM_LEGACY));
  }
  static CUresult read_now(void* to, CUdeviceptr from, std::size_t size) {
    return done(device_to_host(to, from, size, CU_STREAM_LEGACY));
  }
};

FakeDriver::FakeDriver(const Limits& limits) : limits_(limits), random_(limits.seed) {
  the_driver = this;
  streams_[CU_STREAM_LEGACY];
  streams_[CU_STREAM_PER_THREAD];
  Driver& d = driver_;
  d.cuMemAddressReserve = FakeCalls::reserve;
  d.cuMemAddressFree = FakeCalls::address_free;
  d.cuMemCreate = FakeCalls::create;
  d.cuMemRelease = FakeCalls::release;
  d.cuMemMap = FakeCalls::map;
  d.cuMemUnmap = FakeCalls::unmap;
  d.cuMemSetAccess = FakeCalls::set_access;
  d.cuMemHostAlloc = FakeCalls::host_alloc;
  d.cuMemFreeHost = FakeCalls::free_host;
  d.cuDeviceGetAttribute = FakeCalls::attribute;
  d.cuMemGetAllocationGranularity = FakeCalls::granularity;
  d.cuStreamCreate = FakeCalls::stream_create;
  d.cuStreamDestroy_v2 = FakeCalls::stream_destroy;
  d.cuStreamSynchronize = FakeCalls::stream_synchronize;
  d.cuStreamQuery = FakeCalls::stream_query;
  d.cuStreamIsCapturing = FakeCalls::is_capturing;
  d.cuThreadExchangeStreamCaptureMode = FakeCalls::exchange_capture_mode;
  d.cuEventCreate = FakeCalls::event_create;
  d.cuEventDestroy_v2 = FakeCalls::event_destroy;
  d.cuEventRecord = FakeCalls::event_record;
  d.cuEventQuery = FakeCalls::event_query;
  d.cuCtxSynchronize = FakeCalls::context_synchronize;
  d.cuCtxGetCurrent = FakeCalls::context;
  d.cuCtxSetCurrent = FakeCalls::set_context;
  d.cuCtxPushCurrent_v2 = FakeCalls::set_context;
  d.cuCtxPopCurrent_v2 = FakeCalls::context;
  d.cuCtxGetDevice = FakeCalls::device;
  d.cuDevicePrimaryCtxRetain = FakeCalls::retain;
  d.cuDevicePrimaryCtxRelease_v2 = FakeCalls::release_primary;
  d.cuDeviceGetCount = FakeCalls::device_count;
  d.cuDeviceTotalMem_v2 = FakeCalls::total_memory;
  d.cuMemGetInfo_v2 = FakeCalls::memory_info;
  d.cuMemcpyHtoDAsync_v2 = FakeCalls::host_to_device;
  d.cuMemcpyDtoHAsync_v2 = FakeCalls::device_to_host;
  d.cuMemcpyDtoDAsync_v2 = FakeCalls::device_to_device;
  d.cuMemsetD8Async = FakeCalls::fill;
  d.cuModuleLoadData = FakeCalls::load_module;
  d.cuModuleGetFunction = FakeCalls::get_function;
  d.cuModuleUnload = FakeCalls::unload;
  d.cuMemAlloc_v2 = FakeCalls::allocate;
  d.cuMemFree_v2 = FakeCalls::free;
  d.cuLaunchKernel = FakeCalls::launch;
  d.cuMemsetD8_v2 = FakeCalls::fill_now;
  d.cuMemcpyDtoH_v2 = FakeCalls::read_now;
}

FakeDriver::~FakeDriver() {
  for (const auto& [address, size] : reserved_) munmap(reinterpret_cast<void*>(address), size);
  for (void* memory : pinned_) std::free(memory);
  the_driver = nullptr;
}

}  // namespace tencache::test
