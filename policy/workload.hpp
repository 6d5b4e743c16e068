// Traces of training steps generated from published model shapes, kernel times from a roofline of a named
// GPU, so that the project needs no recorded traces. Called by the bench and the tools. Thread rule: pure.
// Failure rule: null for a name that is not in a table.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "policy/trace.hpp"

namespace tencache::policy {

struct Gpu {
  const char* name;
  double flops;      // a second, dense half precision, as matrices reach it
  double bandwidth;  // bytes a second of HBM, as kernels reach it
};

[[nodiscard]] std::span<const Gpu> gpus();
[[nodiscard]] const Gpu* find_gpu(std::string_view name);

struct Workload {
  const char* name;
  const char* help;
  Trace (*generate)(const Gpu& gpu);
};

[[nodiscard]] std::span<const Workload> workloads();
[[nodiscard]] const Workload* find_workload(std::string_view name);

}  // namespace tencache::policy
