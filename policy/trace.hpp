// One training step as data: tensors, and the kernels that touch them in order; and its text form, which
// docs/formats.md describes. Called by the simulator, the bound, the workload generator and the tools.
// Thread rule: plain values. Failure rule: a text that breaks the format gives kInvalidArgument, its
// driver_code() being the number of the offending line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.hpp"
#include "src/base/units.hpp"

namespace tencache::policy {

using TensorIndex = std::uint32_t;
using KernelIndex = std::uint32_t;

struct TraceTensor {
  Bytes size;
  bool persistent = true;  // lives across steps; else from its first use to its last in the step
};

struct TraceKernel {
  std::string name;
  Nanoseconds duration;
  Nanoseconds enqueued_at{};  // from the step's start; 0 everywhere: the program is never late
  std::uint32_t stream = 0;
  std::vector<TensorIndex> reads{};
  std::vector<TensorIndex> writes{};
};

struct Trace {
  std::string name;
  std::vector<TraceTensor> tensors;
  std::vector<TraceKernel> kernels;
};

Result<Trace> parse_trace(std::string_view text);
std::string format_trace(const Trace& trace);

}  // namespace tencache::policy
