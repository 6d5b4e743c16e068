// What a block of host memory can do at a device address.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tools/gpu_check/kernels.hpp"
#include "tools/gpu_check/questions.hpp"

namespace gpu_check {
namespace {

Location host_location(int node) { return node < 0 ? Location{kHost, 0} : Location{kHostNuma, node}; }

// A host block mapped for the device, or the question's end with the call that refused.
struct HostBlock {
  const Gpu& gpu;
  Location location;
  std::size_t bytes;
  Address address = gpu.reserve(bytes);
  Handle handle = gpu.create(location, bytes);

  HostBlock(const Gpu& gpu, int node, std::size_t bytes)
      : gpu(gpu), location(host_location(node)), bytes(bytes) {
    gpu.map(address, bytes, handle);
  }
};

std::size_t whole_pages(const Gpu& gpu, std::size_t bytes) {
  return (bytes + gpu.granularity - 1) / gpu.granularity * gpu.granularity;
}

// Best rate of three.
template <class Operation>
double gigabytes_per_second(const Gpu& gpu, std::size_t bytes, Operation&& operation) {
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    const double nanoseconds = timed([&] {
      operation();
      gpu.finish_all();
    });
    best = std::max(best, static_cast<double>(bytes) / nanoseconds);
  }
  return best;
}

void ask_kernel_speeds(const Gpu& gpu, const HostBlock& block, std::size_t pass_bytes) {
  const Stream stream = gpu.new_stream();
  const Address out = gpu.allocate(16);
  for (const char* kernel : {"read_all", "write_all"}) {
    const Function function = gpu.function(kernel);
    gpu.number(std::string("kernel.") + kernel,
               gigabytes_per_second(gpu, pass_bytes,
                                    [&] { gpu.pass(function, block.address, pass_bytes, out, stream); }),
               "GB/s");
  }
}

void ask_atomics(const Gpu& gpu, const HostBlock& block) {
  struct Words {
    std::uint32_t sum, unused;
    std::uint64_t wide_sum;
    std::uint32_t largest;
  } words{};
  gpu.must("cuMemsetD8", gpu.api.cuMemsetD8_v2(block.address, 0, sizeof words));
  constexpr unsigned kBlocks = 64, kThreads = 128;
  const double nanoseconds = timed([&] {
    gpu.launch(gpu.function("atomics"), kBlocks, kThreads, nullptr, {block.address});
    gpu.finish_all();
  });
  gpu.must("cuMemcpyDtoH", gpu.api.cuMemcpyDtoH_v2(&words, block.address, sizeof words));
  const bool exact = words.sum == kBlocks * kThreads && words.wide_sum == kBlocks * kThreads &&
                     words.largest == kBlocks * kThreads - 1;
  gpu.text("kernel.atomics", exact ? "exact" : "wrong");
  gpu.number("kernel.atomics_time", nanoseconds / 1000, "us for 3 x 8192");
}

void ask_copies(const Gpu& gpu, const HostBlock& block) {
  unsigned char* pinned = gpu.pinned(block.bytes);
  std::memset(pinned, 1, block.bytes);
  const Address device = gpu.allocate(block.bytes);
  const DriverApi& api = gpu.api;
  const auto ask = [&](const char* name, auto&& operation) {
    const Status status = operation();
    gpu.text(std::string("copy.") + name, gpu.verdict(status));
    if (status == 0)
      gpu.number(std::string("copy.").append(name).append("_rate"),
                 gigabytes_per_second(gpu, block.bytes, [&] { gpu.must(name, operation()); }), "GB/s");
  };
  ask("htod", [&] { return api.cuMemcpyHtoD_v2(block.address, pinned, block.bytes); });
  ask("dtoh", [&] { return api.cuMemcpyDtoH_v2(pinned, block.address, block.bytes); });
  ask("to_hbm", [&] { return api.cuMemcpyDtoD_v2(device, block.address, block.bytes); });
  ask("from_hbm", [&] { return api.cuMemcpyDtoD_v2(block.address, device, block.bytes); });
  ask("memset", [&] { return api.cuMemsetD8_v2(block.address, 7, block.bytes); });
  gpu.must("cuMemcpyDtoH", api.cuMemcpyDtoH_v2(pinned, block.address, block.bytes));
  const bool right = std::all_of(pinned, pinned + block.bytes, [](unsigned char byte) { return byte == 7; });
  gpu.text("copy.bytes", right ? "right" : "wrong");
}

}  // namespace

void ask_host_block(Gpu& gpu, int node) {
  const std::size_t bytes = whole_pages(gpu, gpu.pass_size(gpu.scale.bytes(256 * kMiB)));
  std::size_t pass_bytes = gpu.pass_size(bytes);
  if (pass_bytes > bytes) pass_bytes = gpu.pass_size(bytes / 2);
  const double elapsed = timed([&] {
    Handle handle = gpu.create(host_location(node), bytes);
    gpu.must("cuMemRelease", gpu.api.cuMemRelease(handle));
  });
  gpu.text("create", "works");
  gpu.number("create_and_release." + size_text(bytes), elapsed / 1000, "us");
  const std::uint64_t before = now_ns();
  const HostBlock block(gpu, node, bytes);
  gpu.number("create_map_and_access." + size_text(bytes), static_cast<double>(now_ns() - before) / 1000,
             "us");
  ask_kernel_speeds(gpu, block, pass_bytes);
  ask_atomics(gpu, block);
  ask_copies(gpu, block);
}

// The device's address used as a pointer. Without access for the host this ends the process, which is the
// answer.
void ask_host_cpu(Gpu& gpu, int node) {
  const HostBlock block(gpu, node, whole_pages(gpu, gpu.granularity));
  Status status = gpu.try_access(block.address, block.bytes, {kHost, 0});
  gpu.text("set_access_for_HOST", gpu.verdict(status));
  if (status != 0) {
    status = gpu.try_access(block.address, block.bytes, host_location(node));
    gpu.text("set_access_for_its_location", gpu.verdict(status));
  }
  gpu.must("cuMemsetD8", gpu.api.cuMemsetD8_v2(block.address, 3, block.bytes));
  gpu.finish_all();
  volatile unsigned char* bytes = reinterpret_cast<volatile unsigned char*>(block.address);
  const bool seen = bytes[0] == 3 && bytes[block.bytes - 1] == 3;
  gpu.text("load", seen ? "sees what the device wrote" : "sees something else");
  bytes[1] = 9;
  unsigned char back[2] = {};
  gpu.must("cuMemcpyDtoH", gpu.api.cuMemcpyDtoH_v2(back, block.address, 2));
  gpu.text("store", back[1] == 9 ? "is seen by the device" : "is not seen by the device");
}

void ask_host_direct_io(Gpu& gpu, int node) {
  const HostBlock block(gpu, node, whole_pages(gpu, gpu.granularity));
  if (gpu.try_access(block.address, block.bytes, {kHost, 0}) != 0)
    (void)gpu.try_access(block.address, block.bytes, host_location(node));
  char name[] = "/var/tmp/gpu-check.XXXXXX";
  const int made = mkstemp(name);
  const int file = open(name, O_RDWR | O_DIRECT);
  unlink(name);
  if (made >= 0) close(made);
  if (file < 0) return gpu.text("stopped", "no O_DIRECT file in /var/tmp");
  gpu.must("cuMemsetD8", gpu.api.cuMemsetD8_v2(block.address, 5, block.bytes));
  gpu.finish_all();
  void* memory = reinterpret_cast<void*>(block.address);
  const ssize_t written = pwrite(file, memory, block.bytes, 0);
  gpu.text("write", written == static_cast<ssize_t>(block.bytes) ? "works" : std::strerror(errno));
  if (written < 0 && ftruncate(file, static_cast<off_t>(block.bytes)) != 0) return;
  const ssize_t read_bytes = pread(file, memory, block.bytes, 0);
  gpu.text("read", read_bytes == static_cast<ssize_t>(block.bytes) ? "works" : std::strerror(errno));
}

}  // namespace gpu_check
