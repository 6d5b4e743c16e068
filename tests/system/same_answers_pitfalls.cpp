// What libraries ask of a driver now and then, and what has broken under others who stood in its place.
#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <thread>

#include "tests/system/same_answers.hpp"

namespace {

constexpr std::size_t kGranularity = 64 << 10;
constexpr std::size_t kPage = 4096;

CUmemAllocationProp pinned_at(CUmemLocationType type) {
  CUmemAllocationProp where{};
  where.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  where.location.type = type;
  return where;
}

}  // namespace

// Without the promise a copy from device to device, and a memset, only join the stream's order.
void copies_promised_to_wait() {
  CUdeviceptr target = 0, source = 0, plain = 0;
  say("target", cuMemAlloc(&target, kBytes));
  say("source", cuMemAlloc(&source, kBytes));
  say("plain", cuMemAlloc(&plain, kBytes));
  unsigned promised = 7;
  say("before", cuPointerGetAttribute(&promised, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, target), promised);
  const unsigned on = 1, off = 0;
  say("promise", cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, target + 64));
  say("after", cuPointerGetAttribute(&promised, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, target), promised);
  say("plain", cuPointerGetAttribute(&promised, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, plain), promised);
  say("flags of the program's own", cuCtxSetFlags(CU_CTX_SCHED_YIELD));
  for (int i = 0; i < 20; ++i) {
    say("copy", cuMemcpyDtoD(target, source, kBytes));
    say("is done", cuStreamQuery(CU_STREAM_LEGACY));
    say("fill", cuMemsetD8(target, 3, kBytes));
    say("is done", cuStreamQuery(CU_STREAM_LEGACY));
  }
  say("no promise", cuPointerSetAttribute(&off, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, target));
  say("after", cuPointerGetAttribute(&promised, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, target), promised);
  say("another attribute", cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_IS_MANAGED, target));
  say("free", cuMemFree(target));
  say("of freed memory", cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, target));
  say("of no memory", cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, kWild));
  say("again", cuMemAlloc(&target, kBytes));
  say("forgotten", cuPointerGetAttribute(&promised, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, target), promised);
}

// A thread that never made a context current: what takes its device from an argument works there.
void without_a_context() {
  CUdeviceptr live = 0;
  say("allocate", cuMemAlloc(&live, kBytes));
  use(live, kBytes, 1);
  std::thread([live] {
    CUdevice device = 0;
    say("device", cuCtxGetDevice(&device));
    std::size_t free_bytes = 0, total = 0, size = 0;
    say("information", cuMemGetInfo(&free_bytes, &total));
    say("total", cuDeviceTotalMem(&total, 0), total);
    CUdeviceptr address = 0, base = 0;
    say("allocate", cuMemAlloc(&address, kBytes));
    say("range", cuMemGetAddressRange(&base, &size, live + 5), size);
    unsigned type = 0;
    say("type", cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, live), type);
    say("copy", cuMemcpyDtoD(live, live + 64, 64));
    say("fill", cuMemsetD8(live, 1, 64));
    say("free", cuMemFree(live));
    const CUmemAllocationProp where = pinned_at(CU_MEM_LOCATION_TYPE_DEVICE);
    CUmemGenericAllocationHandle handle = 0;
    say("create", cuMemCreate(&handle, kBytes, &where, 0));
    say("reserve", cuMemAddressReserve(&address, kBytes, 0, 0, 0));
    say("map", cuMemMap(address, kBytes, 0, handle, 0));
    const CUmemAccessDesc access{where.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    say("access", cuMemSetAccess(address, kBytes, &access, 1));
    say("unmap", cuMemUnmap(address, kBytes));
    say("release", cuMemRelease(handle));
    say("free the addresses", cuMemAddressFree(address, kBytes));
  }).join();
  use(live, kBytes, 2);
}

void outputs_left_out() {
  CUdeviceptr live = 0, base = 0;
  std::size_t size = 0, value = 0;
  say("allocate", cuMemAlloc(&live, kBytes));
  say("free bytes", cuMemGetInfo(nullptr, &value));
  say("total", cuMemGetInfo(&value, nullptr));
  say("both", cuMemGetInfo(nullptr, nullptr));
  say("base", cuMemGetAddressRange(nullptr, &size, live + 9), size);
  say_whether("size", cuMemGetAddressRange(&base, nullptr, live + 9), base, live);
  say("both", cuMemGetAddressRange(nullptr, nullptr, live + 9));
  say("total of a device", cuDeviceTotalMem(nullptr, 0));
  say("attribute", cuPointerGetAttribute(nullptr, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, live));
  say("attributes", cuPointerGetAttributes(0, nullptr, nullptr, live));
  say("value", cuPointerSetAttribute(nullptr, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, live));
  say("address", cuMemAlloc(nullptr, kBytes));
  say("address", cuMemAllocAsync(nullptr, kBytes, nullptr));
  say("address", cuMemAllocPitch(nullptr, &value, 100, 100, 4));
  say("pitch", cuMemAllocPitch(&base, nullptr, 100, 100, 4));
}

// The program's own: a size or an alignment that is no multiple is the driver's to judge.
void odd_reservations() {
  CUdeviceptr live = 0;
  say("allocate", cuMemAlloc(&live, kBytes));
  const CUmemAllocationProp where = pinned_at(CU_MEM_LOCATION_TYPE_DEVICE);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, kGranularity - 1, kGranularity, kGranularity + 1, 3 * kGranularity}) {
    CUdeviceptr address = 0;
    CUmemGenericAllocationHandle handle = 0;
    const CUresult reserved = cuMemAddressReserve(&address, size, 0, 0, 0);
    say("reserve", reserved, size);
    if (reserved == CUDA_SUCCESS) say("free the addresses", cuMemAddressFree(address, size));
    const CUresult created = cuMemCreate(&handle, size, &where, 0);
    say("create", created, size);
    if (created == CUDA_SUCCESS) say("release", cuMemRelease(handle));
  }
  CUdeviceptr address = 0;
  say("an odd alignment", cuMemAddressReserve(&address, kGranularity, 3, 0, 0));
  use(live, kBytes, 1);
}

// A copy is given to the driver as it came, not in pieces that it would take.
void host_ranges_half_registered() {
  CUdeviceptr live = 0;
  say("allocate", cuMemAlloc(&live, kBytes));
  use(live, kBytes, 1);
  void* mapped = mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* host = static_cast<unsigned char*>(mapped);
  say("register", cuMemHostRegister(host, kPage, 0));
  say("its neighbour", cuMemHostRegister(host + kPage, kPage, 0));
  say("within", cuMemcpyHtoD(live, host, kPage));
  say("over both", cuMemcpyHtoD(live, host, 2 * kPage));
  say("over the second's end", cuMemcpyHtoDAsync(live, host + kPage, 2 * kPage, CU_STREAM_LEGACY));
  say("back over both", cuMemcpyDtoH(host, live, 2 * kPage));
  say("behind them", cuMemcpyHtoD(live, host + 2 * kPage, 2 * kPage));
  say("unregister", cuMemHostUnregister(host));
  say("unregister", cuMemHostUnregister(host + kPage));
  say("over all", cuMemcpyHtoD(live, host, 4 * kPage));
  use(live, kBytes, 2);
  munmap(mapped, 4 * kPage);
}

// Their ids are no devices'.
void locations_of_the_host() {
  CUdeviceptr live = 0;
  say("allocate", cuMemAlloc(&live, kBytes));
  use(live, kBytes, 1);
  for (const CUmemLocationType type :
       {CU_MEM_LOCATION_TYPE_HOST, CU_MEM_LOCATION_TYPE_HOST_NUMA, CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT}) {
    for (const int id : {0, 63, -1}) {
      CUmemAllocationProp where = pinned_at(type);
      where.location.id = id;
      std::size_t granularity = 0;
      CUmemGenericAllocationHandle handle = 0;
      say("granularity",
          cuMemGetAllocationGranularity(&granularity, &where, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
      const CUresult created = cuMemCreate(&handle, kBytes, &where, 0);
      say("create", created, static_cast<unsigned long long>(type) * 1000 + static_cast<unsigned>(id + 1));
      if (created == CUDA_SUCCESS) say("release", cuMemRelease(handle));
    }
  }
  use(live, kBytes, 2);
}

// On the legacy stream and in a capture the driver refuses them; single copies are never made batches.
void batches_where_they_may_not_be() {
  std::array<CUdeviceptr, 3> to{}, from{};
  std::array<std::size_t, 3> sizes{kBytes, 512, kBytes / 2};
  for (std::size_t i = 0; i < to.size(); ++i) {
    say("allocate", cuMemAlloc(&to[i], kBytes));
    say("allocate", cuMemAlloc(&from[i], kBytes));
    use(from[i], kBytes, static_cast<unsigned char>(10 + i));
  }
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  std::size_t first = 0;
  const CUstream stream = make_stream();
  const auto batch = [&](std::size_t count, CUstream where) {
    return cuMemcpyBatchAsync(to.data(), from.data(), sizes.data(), count, &attributes, &first, 1, where);
  };
  say("on a stream", batch(3, stream));
  say("of none", batch(0, stream));
  say("on the legacy stream", batch(3, CU_STREAM_LEGACY));
  say("on no stream", batch(3, nullptr));
  say("synchronize", cuStreamSynchronize(stream));
  for (std::size_t i = 0; i < to.size(); ++i) {
    unsigned char byte = 0;
    const CUresult result = cuMemcpyDtoH(&byte, to[i] + sizes[i] - 1, 1);
    say("last byte", result, byte);
  }
  CUgraph graph = nullptr;
  say("begin", cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  say("in a capture", batch(3, stream));
  say("end", cuStreamEndCapture(stream, &graph));
  say("afterwards", batch(1, stream));
  say("synchronize", cuStreamSynchronize(stream));
}

// However many pieces memory is moved in, it is one allocation to who asks at any of its bytes.
void ranges_of_many_pieces() {
  constexpr std::size_t kPieces = 3 << 20;
  CUdeviceptr live = 0;
  say("allocate", cuMemAlloc(&live, kPieces + 12));
  use(live, kPieces, 1);
  for (std::size_t at = 0; at < kPieces; at += kGranularity) {
    CUdeviceptr base = 0;
    std::size_t size = 0;
    say("range", cuMemGetAddressRange(&base, &size, live + at), size);
    CUdeviceptr start = 0;
    say_whether("start", cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, live + at),
                start, live);
  }
  say("free", cuMemFree(live));
}
