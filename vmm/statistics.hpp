// What the mechanism counts. Written by the engine and the admission, read by the summary at exit. Thread
// rule: each counter is an atomic, read at any time; they are not consistent with each other. Failure rule:
// none.
#pragma once

#include <atomic>
#include <cstdint>

namespace tencache::vmm {

// TENCACHE_COUNTER(member, text in the summary)
#define TENCACHE_VMM_COUNTERS(TENCACHE_COUNTER)                                 \
  TENCACHE_COUNTER(accesses, "accesses")                                        \
  TENCACHE_COUNTER(bytes_in, "bytes copied into HBM")                           \
  TENCACHE_COUNTER(bytes_out, "bytes copied out of HBM")                        \
  TENCACHE_COUNTER(fetches, "extents brought in")                               \
  TENCACHE_COUNTER(evictions, "extents put out")                                \
  TENCACHE_COUNTER(clean_drops, "extents dropped without a copy")               \
  TENCACHE_COUNTER(cancels, "moves cancelled by a touch")                       \
  TENCACHE_COUNTER(stalls, "accesses that waited")                              \
  TENCACHE_COUNTER(stall_nanoseconds, "time accesses waited, ns")               \
  TENCACHE_COUNTER(run_ahead_nanoseconds, "time held by the run-ahead limit, ns") \
  TENCACHE_COUNTER(host_runs, "accesses run from the host")                     \
  TENCACHE_COUNTER(split_copies, "copies issued in parts")                      \
  TENCACHE_COUNTER(refusals, "accesses and allocations refused")                \
  TENCACHE_COUNTER(markers, "markers recorded")                                 \
  TENCACHE_COUNTER(blocks_created, "blocks created")                            \
  TENCACHE_COUNTER(mapping_calls, "driver calls that change a mapping")         \
  TENCACHE_COUNTER(hbm_bytes, "HBM in blocks")                                  \
  TENCACHE_COUNTER(hbm_peak, "HBM in blocks, peak")                             \
  TENCACHE_COUNTER(host_bytes, "host memory in blocks")                         \
  TENCACHE_COUNTER(host_peak, "host memory in blocks, peak")                    \
  TENCACHE_COUNTER(live_bytes, "bytes allocated by the program")                \
  TENCACHE_COUNTER(live_peak, "bytes allocated by the program, peak")

struct Statistics {
#define TENCACHE_COUNTER(member, text) std::atomic<std::uint64_t> member{0};
  TENCACHE_VMM_COUNTERS(TENCACHE_COUNTER)
#undef TENCACHE_COUNTER
};

inline void count(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) {
  counter.fetch_add(by, std::memory_order_relaxed);
}

// Sets a level and the peak that belongs to it. One writer at a time.
inline void set_level(std::atomic<std::uint64_t>& level, std::atomic<std::uint64_t>& peak,
                      std::uint64_t value) {
  level.store(value, std::memory_order_relaxed);
  if (value > peak.load(std::memory_order_relaxed)) peak.store(value, std::memory_order_relaxed);
}

}  // namespace tencache::vmm
