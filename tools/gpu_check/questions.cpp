#include "tools/gpu_check/questions.hpp"

namespace gpu_check {
namespace {

constexpr Question kQuestions[] = {
    {"device", 20, ask_device, 0},
    {"remap", 20, ask_remap, 0},
    {"alias", 10, ask_alias, 0},
    {"waits", 20, ask_waits, 0},
    {"mapping.2MiB", 15, ask_mapping_costs, 2},
    {"mapping.16MiB", 15, ask_mapping_costs, 16},
    {"mapping.32MiB", 15, ask_mapping_costs, 32},
    {"mapping.128MiB", 20, ask_mapping_costs, 128},
    {"launch", 20, ask_launch_latency, 0},
    {"host.HOST", 20, ask_host_block, -1},
    {"host.HOST.cpu", 10, ask_host_cpu, -1},
    {"host.HOST.direct_io", 10, ask_host_direct_io, -1},
    {"host.HOST_NUMA0", 20, ask_host_block, 0},
    {"host.HOST_NUMA0.cpu", 10, ask_host_cpu, 0},
    {"host.HOST_NUMA0.direct_io", 10, ask_host_direct_io, 0},
    {"host.HOST_NUMA1", 20, ask_host_block, 1},
    {"unmapped.htod", 10, ask_unmapped, 0},
    {"unmapped.htod_async", 10, ask_unmapped, 1},
    {"unmapped.dtoh", 10, ask_unmapped, 2},
    {"unmapped.dtod_async", 10, ask_unmapped, 3},
    {"unmapped.memset", 10, ask_unmapped, 4},
    {"unmapped.memset_async", 10, ask_unmapped, 5},
    {"unmapped.kernel", 10, ask_unmapped, 6},
    {"mixed", 10, ask_mixed, 0},
    {"stream", 10, ask_stream_costs, 0},
    {"link", 20, ask_link, 0},
    {"hbm", 10, ask_hbm, 0},
};

}  // namespace

std::span<const Question> questions() { return kQuestions; }

void ask_device(Gpu& gpu, int) {
  std::array<char, 128> name{};
  int version = 0;
  std::size_t total = 0;
  gpu.must("cuDeviceGetName", gpu.api.cuDeviceGetName(name.data(), static_cast<int>(name.size()), 0));
  gpu.must("cuDriverGetVersion", gpu.api.cuDriverGetVersion(&version));
  gpu.must("cuDeviceTotalMem", gpu.api.cuDeviceTotalMem_v2(&total, 0));
  gpu.text("name", name.data());
  gpu.text("cuda_version", std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10));
  gpu.text("compute_capability", std::to_string(gpu.attribute(kCapabilityMajor)) + "." +
                                     std::to_string(gpu.attribute(kCapabilityMinor)));
  gpu.number("memory", static_cast<double>(total) / kMiB, "MiB");
  gpu.number("free", static_cast<double>(gpu.free_memory()) / kMiB, "MiB");
  gpu.number("multiprocessors", gpu.multiprocessors, "multiprocessors");
  gpu.number("granularity.least", static_cast<double>(gpu.least_granularity) / 1024, "KiB");
  gpu.number("granularity.recommended", static_cast<double>(gpu.granularity) / 1024, "KiB");
  gpu.text("vmm", gpu.attribute(kVirtualMemory) == 1 ? "supported" : "not supported");
  gpu.text("numa_node", std::to_string(gpu.attribute(kHostNumaId)));
}

}  // namespace gpu_check
