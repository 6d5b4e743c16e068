// What it costs to change mappings, and whom it disturbs.
#include <atomic>
#include <thread>

#include "tools/gpu_check/questions.hpp"

namespace gpu_check {
namespace {

// Times of one round of calls on a block, by call.
struct MappingTimes {
  std::vector<double> create, map, set_access, unmap, release;

  void round(const Gpu& gpu, Address address, std::size_t bytes) {
    Handle handle = 0;
    create.push_back(timed([&] { handle = gpu.create(Gpu::on_device(), bytes); }));
    map.push_back(timed([&] { gpu.must("cuMemMap", gpu.api.cuMemMap(address, bytes, 0, handle, 0)); }));
    set_access.push_back(
        timed([&] { gpu.must("cuMemSetAccess", gpu.try_access(address, bytes, Gpu::on_device())); }));
    unmap.push_back(timed([&] { gpu.unmap(address, bytes); }));
    release.push_back(timed([&] { gpu.must("cuMemRelease", gpu.api.cuMemRelease(handle)); }));
  }
};

// One set-access over `count` mappings against one for each.
void ask_set_access_over_many(const Gpu& gpu, std::size_t bytes, std::size_t count) {
  const Address address = gpu.reserve(bytes * count);
  for (std::size_t i = 0; i < count; ++i)
    gpu.must("cuMemMap",
             gpu.api.cuMemMap(address + i * bytes, bytes, 0, gpu.create(Gpu::on_device(), bytes), 0));
  const double together =
      timed([&] { gpu.must("cuMemSetAccess", gpu.try_access(address, bytes * count, Gpu::on_device())); });
  gpu.number("set_access_over_" + std::to_string(count), together / 1000, "us");
  const double unmapped = timed([&] { gpu.unmap(address, bytes * count); });
  gpu.number("unmap_over_" + std::to_string(count), unmapped / 1000, "us");
}

// Remaps the block at `address` until told to stop; counts the rounds.
void keep_remapping(const Gpu& gpu, Address address, std::size_t bytes, Handle handle,
                    const std::atomic<bool>& stop, int* rounds) {
  for (; !stop; ++*rounds) {
    gpu.map(address, bytes, handle);
    gpu.unmap(address, bytes);
  }
}

void keep_creating(const Gpu& gpu, std::size_t bytes, const std::atomic<bool>& stop) {
  while (!stop) gpu.must("cuMemRelease", gpu.api.cuMemRelease(gpu.create(Gpu::on_device(), bytes)));
}

void take_context(const Gpu& gpu) {
  Context context = nullptr;
  gpu.must("cuDevicePrimaryCtxRetain", gpu.api.cuDevicePrimaryCtxRetain(&context, 0));
  gpu.must("cuCtxSetCurrent", gpu.api.cuCtxSetCurrent(context));
}

struct Pulse {
  std::uint64_t longest_gap, turns;
};

// Pages of one reservation: the even ones are the kernel's, the odd ones are remapped next to them.
struct Neighbours {
  static constexpr std::size_t kPages = 8;
  const Gpu& gpu;
  std::size_t page = gpu.granularity;
  Address base = gpu.reserve(2 * kPages * page);
  Address result = gpu.allocate(16);
  Stream stream = gpu.new_stream();

  void map_even_pages() const {
    for (std::size_t i = 0; i < kPages; ++i)
      gpu.map(base + 2 * i * page, page, gpu.create(Gpu::on_device(), page));
  }
  // Starts the kernel; `meanwhile` runs on the CPU.
  template <class Meanwhile>
  Pulse pulse(std::uint64_t nanoseconds, Meanwhile&& meanwhile) const {
    gpu.must("cuMemsetD8", gpu.api.cuMemsetD8_v2(result, 0, 16));
    gpu.finish_all();
    gpu.launch(gpu.function("pulse"), 8, 32, stream, {base, 2 * page, kPages, nanoseconds, result});
    meanwhile();
    gpu.finish(stream);
    Pulse pulse{};
    gpu.must("cuMemcpyDtoH", gpu.api.cuMemcpyDtoH_v2(&pulse, result, sizeof pulse));
    return pulse;
  }
};

// Maps and unmaps the odd pages in turn for as long as the kernel runs.
int remap_odd_pages(const Neighbours& neighbours, Handle handle, std::uint64_t nanoseconds) {
  int rounds = 0;
  for (const std::uint64_t end = now_ns() + nanoseconds; now_ns() < end; ++rounds) {
    const Address odd =
        neighbours.base + (2 * (static_cast<std::size_t>(rounds) % Neighbours::kPages) + 1) * neighbours.page;
    neighbours.gpu.map(odd, neighbours.page, handle);
    neighbours.gpu.unmap(odd, neighbours.page);
  }
  return rounds;
}

std::vector<double> launch_times(const Gpu& gpu, Stream stream, int count) {
  const Function nothing = gpu.function("nothing");
  constexpr int kBetweenSyncs = 64;
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    times.push_back(timed([&] { gpu.launch(nothing, 1, 32, stream, {}); }));
    if (i % kBetweenSyncs == 0) gpu.finish(stream);
  }
  gpu.finish(stream);
  return times;
}

void report_launches(const Gpu& gpu, const std::string& while_text, const std::vector<double>& times) {
  gpu.number(while_text + ".p50", percentile(times, 50) / 1000, "us");
  gpu.number(while_text + ".p99", percentile(times, 99) / 1000, "us");
  gpu.number(while_text + ".max", percentile(times, 100) / 1000, "us");
}

// Launch times while `other` runs in a second thread until it is told to stop.
template <class Other>
void ask_launches_while(const Gpu& gpu, const std::string& name, Stream stream, int count, Other&& other) {
  std::atomic<bool> stop{false};
  std::thread thread([&] {
    take_context(gpu);
    other(stop);
  });
  const std::vector<double> times = launch_times(gpu, stream, count);
  stop = true;
  thread.join();
  report_launches(gpu, name, times);
}

}  // namespace

void ask_mapping_costs(Gpu& gpu, int mib) {
  const std::size_t bytes = static_cast<std::size_t>(mib) * kMiB;
  if (bytes % gpu.granularity != 0 || bytes * 4 > gpu.free_memory())
    return gpu.text("stopped", "not a size for this device");
  const Address address = gpu.reserve(bytes);
  MappingTimes times;
  for (int i = 0; i < gpu.scale.times(mib > 32 ? 16 : 40); ++i) times.round(gpu, address, bytes);
  gpu.number("create", median(times.create) / 1000, "us");
  gpu.number("map", median(times.map) / 1000, "us");
  gpu.number("set_access", median(times.set_access) / 1000, "us");
  gpu.number("unmap", median(times.unmap) / 1000, "us");
  gpu.number("release", median(times.release) / 1000, "us");
  const std::size_t count = gpu.scale.quick ? 4 : 16;
  if (bytes * count * 2 < gpu.free_memory()) ask_set_access_over_many(gpu, bytes, count);
}

void ask_remap(Gpu& gpu, int) {
  const Neighbours neighbours{gpu};
  neighbours.map_even_pages();
  const Handle handle = gpu.create(Gpu::on_device(), neighbours.page);
  const std::uint64_t duration = gpu.scale.nanoseconds(300000000);
  (void)neighbours.pulse(duration / 10, [] {});
  const Pulse quiet = neighbours.pulse(duration, [] {});
  int rounds = 0;
  const Pulse disturbed =
      neighbours.pulse(duration, [&] { rounds = remap_odd_pages(neighbours, handle, duration * 9 / 10); });
  gpu.text("unrelated_kernel", "runs to its end without a fault");
  gpu.number("rounds", rounds, "map, set-access and unmap");
  gpu.number("longest_gap.quiet", static_cast<double>(quiet.longest_gap) / 1000, "us");
  gpu.number("longest_gap.remapping", static_cast<double>(disturbed.longest_gap) / 1000, "us");
  gpu.number("turns.quiet", static_cast<double>(quiet.turns), "turns");
  gpu.number("turns.remapping", static_cast<double>(disturbed.turns), "turns");
}

// One block at two addresses: seen through both, and one of them unmapped while a kernel uses the other.
void ask_alias(Gpu& gpu, int) {
  const std::size_t bytes = gpu.granularity;
  const Handle handle = gpu.create(Gpu::on_device(), bytes);
  const Address first = gpu.reserve(bytes), second = gpu.reserve(bytes), result = gpu.allocate(16);
  gpu.map(first, bytes, handle);
  gpu.map(second, bytes, handle);
  unsigned char seen = 0;
  gpu.must("cuMemsetD8", gpu.api.cuMemsetD8_v2(first, 6, bytes));
  gpu.must("cuMemcpyDtoH", gpu.api.cuMemcpyDtoH_v2(&seen, second, 1));
  gpu.text("bytes", seen == 6 ? "are seen through both addresses" : "differ");
  const Stream stream = gpu.new_stream();
  const std::uint64_t duration = gpu.scale.nanoseconds(200000000);
  gpu.launch(gpu.function("pulse"), 8, 32, stream, {first, 0, 1, duration, result});
  gpu.unmap(second, bytes);
  for (const std::uint64_t end = now_ns() + duration / 2; now_ns() < end;) {
    gpu.map(second, bytes, handle);
    gpu.unmap(second, bytes);
  }
  gpu.finish(stream);
  gpu.text("kernel_on_the_other", "runs to its end without a fault");
}

void ask_launch_latency(Gpu& gpu, int) {
  const Stream stream = gpu.new_stream();
  const int count = gpu.scale.quick ? 200 : 20000;
  const std::size_t bytes = gpu.granularity;
  const Address address = gpu.reserve(bytes);
  const Handle handle = gpu.create(Gpu::on_device(), bytes);
  (void)launch_times(gpu, stream, count / 10);
  report_launches(gpu, "alone", launch_times(gpu, stream, count));
  int rounds = 0;
  ask_launches_while(gpu, "while_mapping", stream, count, [&](const std::atomic<bool>& stop) {
    keep_remapping(gpu, address, bytes, handle, stop, &rounds);
  });
  gpu.number("while_mapping.rounds", rounds, "map, set-access and unmap");
  ask_launches_while(gpu, "while_creating", stream, count,
                     [&](const std::atomic<bool>& stop) { keep_creating(gpu, bytes, stop); });
}

}  // namespace gpu_check
