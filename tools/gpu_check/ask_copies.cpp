// Copies where mappings are missing or mixed, and how fast bytes move.
#include <algorithm>
#include <cstring>

#include "tools/gpu_check/questions.hpp"

namespace gpu_check {
namespace {

// One operation on an address that is reserved and not mapped.
Status unmapped_operation(const Gpu& gpu, int operation, Address address, Address mapped,
                          unsigned char* pinned, Stream stream) {
  constexpr std::size_t kBytes = 4096;
  const DriverApi& api = gpu.api;
  switch (operation) {
    case 0:
      return api.cuMemcpyHtoD_v2(address, pinned, kBytes);
    case 1:
      return api.cuMemcpyHtoDAsync_v2(address, pinned, kBytes, stream);
    case 2:
      return api.cuMemcpyDtoH_v2(pinned, address, kBytes);
    case 3:
      return api.cuMemcpyDtoDAsync_v2(mapped, address, kBytes, stream);
    case 4:
      return api.cuMemsetD8_v2(address, 1, kBytes);
    case 5:
      return api.cuMemsetD8Async(address, 1, kBytes, stream);
    default:
      return gpu.try_launch(gpu.function("atomics"), 1, 1, stream, {address});
  }
}

// Two neighbouring blocks at one range: the first in HBM, the second in host memory.
struct MixedRange {
  const Gpu& gpu;
  std::size_t block = gpu.granularity;
  Address address = gpu.reserve(2 * block);

  bool map() const {
    Handle host = 0;
    if (gpu.try_create({kHost, 0}, block, &host) != 0 && gpu.try_create({kHostNuma, 0}, block, &host) != 0)
      return false;
    gpu.map(address, block, gpu.create(Gpu::on_device(), block));
    gpu.map(address + block, block, host);
    return true;
  }
};

bool all_are(const unsigned char* bytes, std::size_t count, unsigned char value) {
  return std::all_of(bytes, bytes + count, [value](unsigned char byte) { return byte == value; });
}

double rate(const Gpu& gpu, std::size_t bytes, int rounds, const auto& enqueue) {
  enqueue();
  gpu.finish_all();
  const double nanoseconds = timed([&] {
    for (int i = 0; i < rounds; ++i) enqueue();
    gpu.finish_all();
  });
  return static_cast<double>(bytes) * rounds / nanoseconds;
}

}  // namespace

void ask_unmapped(Gpu& gpu, int operation) {
  const Stream stream = gpu.new_stream();
  const Address address = gpu.reserve(gpu.granularity), mapped = gpu.allocate(4096);
  unsigned char* pinned = gpu.pinned(4096);
  const Status at_call = unmapped_operation(gpu, operation, address, mapped, pinned, stream);
  gpu.text("at_call", at_call == 0 ? "succeeds" : gpu.api.name_of(at_call));
  const Status at_end = gpu.api.cuCtxSynchronize();
  gpu.text("at_synchronize", at_end == 0 ? "succeeds" : gpu.api.name_of(at_end));
  const Status after = gpu.api.cuMemsetD8_v2(mapped, 0, 4096);
  gpu.text("context_after", after == 0 ? "lives" : gpu.api.name_of(after));
}

void ask_mixed(Gpu& gpu, int) {
  const MixedRange range{gpu};
  if (!range.map()) return gpu.text("stopped", "no host block can be had");
  const std::size_t bytes = 2 * range.block;
  unsigned char* pinned = gpu.pinned(bytes);
  const Address device = gpu.allocate(bytes);
  std::memset(pinned, 1, bytes);
  gpu.text("htod", gpu.verdict(gpu.api.cuMemcpyHtoD_v2(range.address, pinned, bytes)));
  gpu.text("dtod_from", gpu.verdict(gpu.api.cuMemcpyDtoD_v2(device, range.address, bytes)));
  gpu.text("dtod_to", gpu.verdict(gpu.api.cuMemcpyDtoD_v2(range.address, device, bytes)));
  gpu.text("memset", gpu.verdict(gpu.api.cuMemsetD8_v2(range.address, 2, bytes)));
  const Status back = gpu.api.cuMemcpyDtoH_v2(pinned, range.address, bytes);
  gpu.text("dtoh", gpu.verdict(back));
  if (back == 0) gpu.text("bytes", all_are(pinned, bytes, 2) ? "right" : "wrong");
}

void ask_link(Gpu& gpu, int) {
  const DriverApi& api = gpu.api;
  const Stream in = gpu.new_stream(), out = gpu.new_stream();
  for (const std::size_t size : {2 * kMiB, 32 * kMiB, 256 * kMiB}) {
    const std::size_t bytes = gpu.scale.bytes(size);
    unsigned char* source = gpu.pinned(bytes);
    unsigned char* sink = gpu.pinned(bytes);
    const Address to = gpu.allocate(bytes), from = gpu.allocate(bytes);
    const int rounds = gpu.scale.times(static_cast<int>(1024 * kMiB / bytes));
    const auto fetch = [&] {
      gpu.must("cuMemcpyHtoDAsync", api.cuMemcpyHtoDAsync_v2(to, source, bytes, in));
    };
    const auto evict = [&] {
      gpu.must("cuMemcpyDtoHAsync", api.cuMemcpyDtoHAsync_v2(sink, from, bytes, out));
    };
    gpu.number("htod." + size_text(size), rate(gpu, bytes, rounds, fetch), "GB/s");
    gpu.number("dtoh." + size_text(size), rate(gpu, bytes, rounds, evict), "GB/s");
    gpu.number("duplex_sum." + size_text(size), rate(gpu, 2 * bytes, rounds, [&] { fetch(), evict(); }),
               "GB/s");
    for (const Address address : {to, from}) gpu.must("cuMemFree", api.cuMemFree_v2(address));
    for (void* memory : {source, sink}) gpu.must("cuMemFreeHost", api.cuMemFreeHost(memory));
  }
}

void ask_hbm(Gpu& gpu, int) {
  const std::size_t bytes = gpu.pass_size(std::min(gpu.scale.bytes(2048 * kMiB), gpu.free_memory() / 4));
  const Stream stream = gpu.new_stream();
  const Address buffer = gpu.allocate(bytes), other = gpu.allocate(bytes), out = gpu.allocate(16);
  for (const char* kernel : {"read_all", "write_all", "fingerprint"}) {
    const Function function = gpu.function(kernel);
    gpu.number(kernel,
               rate(gpu, bytes, gpu.scale.times(8), [&] { gpu.pass(function, buffer, bytes, out, stream); }),
               "GB/s");
  }
  gpu.number("copy",
             rate(gpu, bytes, gpu.scale.times(8),
                  [&] {
                    gpu.must("cuMemcpyDtoDAsync", gpu.api.cuMemcpyDtoDAsync_v2(other, buffer, bytes, stream));
                  }),
             "GB/s copied");
}

}  // namespace gpu_check
