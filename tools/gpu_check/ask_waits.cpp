// Which driver calls wait for a kernel that runs, and what records and waits cost.
#include <functional>

#include "tools/gpu_check/questions.hpp"

namespace gpu_check {
namespace {

// Runs `call` while a kernel spins; says whether the kernel was still running when it came back.
void ask_whether_waits(const Gpu& gpu, Stream stream, const std::string& name,
                       const std::function<void()>& call) {
  const std::uint64_t duration = gpu.scale.nanoseconds(200000000);
  gpu.spin(stream, duration);
  const double elapsed = timed(call);
  const bool waited = gpu.api.cuStreamQuery(stream) == 0;
  gpu.finish(stream);
  gpu.text(name, waited ? "waits for the running kernel" : "does not wait");
  gpu.number(name + ".beside_kernel", elapsed / 1000, "us");
}

struct Operands {
  const Gpu& gpu;
  std::size_t bytes = gpu.granularity;
  Address address = gpu.reserve(bytes);
  Handle handle = gpu.create(Gpu::on_device(), bytes);
  Address allocation = gpu.allocate(bytes);
  void* pinned = gpu.pinned(bytes);
  Address fresh = 0;
};

void ask_vmm_waits(Operands& on, Stream stream) {
  const Gpu& gpu = on.gpu;
  ask_whether_waits(gpu, stream, "map",
                    [&] { gpu.must("cuMemMap", gpu.api.cuMemMap(on.address, on.bytes, 0, on.handle, 0)); });
  ask_whether_waits(gpu, stream, "set_access", [&] {
    gpu.must("cuMemSetAccess", gpu.try_access(on.address, on.bytes, Gpu::on_device()));
  });
  ask_whether_waits(gpu, stream, "unmap", [&] { gpu.unmap(on.address, on.bytes); });
  Handle other = 0;
  ask_whether_waits(gpu, stream, "create", [&] { other = gpu.create(Gpu::on_device(), on.bytes); });
  ask_whether_waits(gpu, stream, "release", [&] { gpu.must("cuMemRelease", gpu.api.cuMemRelease(other)); });
}

void ask_allocation_waits(Operands& on, Stream stream) {
  const Gpu& gpu = on.gpu;
  ask_whether_waits(gpu, stream, "cuMemAlloc", [&] { on.fresh = gpu.allocate(gpu.scale.bytes(64 * kMiB)); });
  ask_whether_waits(gpu, stream, "cuMemFree",
                    [&] { gpu.must("cuMemFree", gpu.api.cuMemFree_v2(on.allocation)); });
  ask_whether_waits(gpu, stream, "cuMemFreeHost",
                    [&] { gpu.must("cuMemFreeHost", gpu.api.cuMemFreeHost(on.pinned)); });
}

double per_call(int count, const std::function<void()>& call) {
  return timed([&] {
           for (int i = 0; i < count; ++i) call();
         }) /
         count;
}

// The cost of `call` on the CPU, behind a launch as it would be in a program, the queue never full.
void ask_cost(const Gpu& gpu, Stream stream, const std::string& name, const std::function<void()>& call) {
  constexpr int kBatch = 100;
  std::vector<double> times;
  for (int i = 0; i < gpu.scale.times(50); ++i) {
    times.push_back(per_call(kBatch, call));
    gpu.finish(stream);
  }
  gpu.number(name, median(times) / 1000, "us");
}

void ask_value_costs(const Gpu& gpu, Stream stream) {
  const Address word = gpu.allocate(4096);
  gpu.must("cuMemsetD8", gpu.api.cuMemsetD8_v2(word, 0, 4096));
  gpu.finish_all();
  if (gpu.api.cuStreamWaitValue32_v2 == nullptr ||
      gpu.api.cuStreamWaitValue32_v2(stream, word, 0, kWaitAtLeast) != 0)
    return gpu.text("wait_value", "not supported");
  ask_cost(gpu, stream, "wait_value", [&] {
    gpu.must("cuStreamWaitValue32", gpu.api.cuStreamWaitValue32_v2(stream, word, 0, kWaitAtLeast));
  });
  ask_cost(gpu, stream, "write_value",
           [&] { gpu.must("cuStreamWriteValue32", gpu.api.cuStreamWriteValue32_v2(stream, word, 1, 0)); });
}

}  // namespace

void ask_waits(Gpu& gpu, int) {
  const Stream stream = gpu.new_stream();
  gpu.spin(stream, 1000);
  gpu.finish(stream);
  Operands operands{gpu};
  ask_vmm_waits(operands, stream);
  ask_allocation_waits(operands, stream);
}

void ask_stream_costs(Gpu& gpu, int) {
  const Stream stream = gpu.new_stream(), other = gpu.new_stream();
  const Function nothing = gpu.function("nothing");
  Event event = nullptr;
  gpu.must("cuEventCreate", gpu.api.cuEventCreate(&event, kNoTiming));
  const auto launch = [&] { gpu.launch(nothing, 1, 32, stream, {}); };
  const auto record = [&] { gpu.must("cuEventRecord", gpu.api.cuEventRecord(event, stream)); };
  ask_cost(gpu, stream, "launch", launch);
  ask_cost(gpu, stream, "event_record", record);
  ask_cost(gpu, stream, "launch_and_record", [&] { launch(), record(); });
  ask_cost(gpu, stream, "event_query", [&] { (void)gpu.api.cuEventQuery(event); });
  ask_cost(gpu, other, "wait_event",
           [&] { gpu.must("cuStreamWaitEvent", gpu.api.cuStreamWaitEvent(other, event, 0)); });
  ask_value_costs(gpu, stream);
}

}  // namespace gpu_check
