// Random small traces for the property tests. Failure rule: none.
#pragma once

#include <random>

#include "policy/trace.hpp"

namespace tencache::tests {

inline policy::Trace random_trace(std::uint64_t seed, unsigned kernels) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  policy::Trace trace;
  trace.name = "random";
  const auto tensors = static_cast<unsigned>(4 + below(kernels));
  for (unsigned i = 0; i < tensors; ++i) {
    trace.tensors.push_back({Bytes((1 + below(60)) << 20), below(2) == 0});
  }
  for (unsigned i = 0; i < kernels; ++i) {
    policy::TraceKernel kernel{.name = "k", .duration = Nanoseconds(1000 + below(4'000'000))};
    const auto pick = [&] {
      return static_cast<policy::TensorIndex>((i * tensors / kernels + below(6)) % tensors);
    };
    for (std::uint64_t reads = below(4); reads > 0; --reads) kernel.reads.push_back(pick());
    for (std::uint64_t writes = 1 + below(2); writes > 0; --writes) kernel.writes.push_back(pick());
    trace.kernels.push_back(std::move(kernel));
  }
  return trace;
}

}  // namespace tencache::tests
