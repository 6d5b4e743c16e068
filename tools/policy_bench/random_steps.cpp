#include "tools/policy_bench/random_steps.hpp"

#include <algorithm>
#include <random>

#include "policy/step.hpp"

namespace tencache::bench {
namespace {

using policy::TensorIndex;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }

 private:
  std::mt19937_64 engine_;
};

// A kernel reaches for tensors near where it is in the step, now and then anywhere.
policy::TraceKernel random_kernel(Random& random, std::uint64_t index, std::uint64_t kernels,
                                  std::uint64_t tensors) {
  policy::TraceKernel kernel;
  kernel.name = "random";
  kernel.duration = Nanoseconds(50'000 + random.below(8'000'000));
  const auto pick = [&] {
    if (random.below(8) == 0) return static_cast<TensorIndex>(random.below(tensors));
    return static_cast<TensorIndex>((index * tensors / kernels + random.below(8)) % tensors);
  };
  for (std::uint64_t reads = random.below(4); reads > 0; --reads) kernel.reads.push_back(pick());
  for (std::uint64_t writes = 1 + random.below(2); writes > 0; --writes) kernel.writes.push_back(pick());
  return kernel;
}

}  // namespace

RandomCell random_cell(std::uint64_t seed) {
  Random random(seed);
  RandomCell cell;
  cell.trace.name = "random";
  const std::uint64_t kernels = 30 + random.below(171);
  const std::uint64_t tensors = 10 + random.below(kernels);
  for (std::uint64_t i = 0; i < tensors; ++i) {
    cell.trace.tensors.push_back({Bytes((1 + random.below(100)) << 20), random.below(2) == 0});
  }
  for (std::uint64_t i = 0; i < kernels; ++i)
    cell.trace.kernels.push_back(random_kernel(random, i, kernels, tensors));
  const policy::Step step(cell.trace);
  std::int64_t largest = 0;
  for (policy::KernelIndex k = 0; k < step.kernels(); ++k) largest = std::max(largest, step.touched(k));
  const auto wanted = static_cast<std::int64_t>(static_cast<double>(step.peak()) * random.between(0.3, 0.9));
  cell.machine.hbm = Bytes(static_cast<std::uint64_t>(std::max(wanted, largest + largest / 4)));
  const double in = random.between(5e9, 60e9);
  const double out = random.between(5e9, 60e9);
  cell.machine.link = {in, out, in, out};
  return cell;
}

RandomCell long_step(std::uint32_t accesses) {
  RandomCell cell;
  cell.trace.name = "long";
  const std::uint32_t layers = accesses / 2;
  const Bytes size = 20_MiB;
  for (std::uint32_t i = 0; i < layers; ++i) cell.trace.tensors.push_back({size, true});
  for (std::uint32_t i = 0; i <= layers; ++i) cell.trace.tensors.push_back({size, false});
  const auto add = [&](std::vector<TensorIndex> reads, std::vector<TensorIndex> writes) {
    policy::TraceKernel kernel;
    kernel.name = "layer";
    kernel.duration = 500_us;
    kernel.reads = std::move(reads);
    kernel.writes = std::move(writes);
    cell.trace.kernels.push_back(std::move(kernel));
  };
  for (std::uint32_t i = 0; i < layers; ++i) add({i, layers + i}, {layers + i + 1});
  for (std::uint32_t i = layers; i-- > 0;) add({i, layers + i, layers + i + 1}, {i});
  cell.machine.hbm = Bytes(static_cast<std::uint64_t>(policy::Step(cell.trace).peak()) / 5 * 2);
  cell.machine.link = policy::LinkRates::both_ways(55e9);
  return cell;
}

}  // namespace tencache::bench
