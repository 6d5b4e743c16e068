// Which streams are being captured. Inside a capture nothing is enqueued, and nothing of ours may
// synchronise, allocate or record. Kept by the capture doors, asked by the others. Thread rule: from any
// thread; while no capture is going on it costs one load. Failure rule: nothing here fails; the driver knows
// of forked streams.
#pragma once

#include <cuda.h>

#include <atomic>

#include "src/runtime/runtime.hpp"

namespace tencache::doors {

extern std::atomic<unsigned> captures_alive;

inline bool is_capture_alive() noexcept { return captures_alive.load(std::memory_order_relaxed) != 0; }

// Asks the driver.
bool ask_captured(runtime::Stream stream) noexcept;
inline bool is_captured(runtime::Stream stream) noexcept {
  return is_capture_alive() && ask_captured(stream);
}

// Whether a capture forbids this thread calls such as cuMemAlloc and cuMemFree: the driver's answer is the
// right one then, and what it does to the capture.
bool is_forbidden_by_capture() noexcept;

}  // namespace tencache::doors
