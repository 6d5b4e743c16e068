// Counters of one process, printed at exit with SOFTGPU_STATS=1. Counted by all of softgpu. Thread rule:
// relaxed atomics. Failure rule: nothing fails.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace softgpu {

#define SOFTGPU_COUNTERS(X)                                                   \
  X(launches, "kernel launches")                                              \
  X(lane_instructions, "lane instructions")                                   \
  X(bytes_h2d, "bytes copied host to device")                                 \
  X(bytes_d2h, "bytes copied device to host")                                 \
  X(bytes_d2d, "bytes copied device to device")                               \
  X(bytes_set, "bytes set")                                                   \
  X(link_bytes_read, "bytes kernels read over the link")                      \
  X(link_bytes_written, "bytes kernels wrote over the link")                  \
  X(vmm_creates, "cuMemCreate calls")                                         \
  X(vmm_maps, "cuMemMap calls")                                               \
  X(vmm_unmaps, "cuMemUnmap calls")                                           \
  X(vmm_set_accesses, "cuMemSetAccess calls")                                 \
  X(allocations, "allocations")                                               \
  X(host_functions, "host functions")                                         \
  X(overruns, "operations that took longer than the device clock gives them") \
  X(faults, "kernels that faulted")

struct Statistics {
#define SOFTGPU_COUNTER_MEMBER(member, text) std::atomic<std::uint64_t> member{0};
  SOFTGPU_COUNTERS(SOFTGPU_COUNTER_MEMBER)
#undef SOFTGPU_COUNTER_MEMBER
};

Statistics& statistics();
inline void count(std::atomic<std::uint64_t>& counter, std::uint64_t amount = 1) {
  counter.fetch_add(amount, std::memory_order_relaxed);
}
std::string statistics_table();

}  // namespace softgpu
