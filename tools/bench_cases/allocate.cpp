// usage: allocate COUNT : the mean time of a cuMemAlloc and cuMemFree that reuse a size on an idle device.
#include <cstdlib>

#include "tools/bench_cases/cases.hpp"

int main(int, char** words) {
  const int count = std::atoi(words[1]);
  const gpu_check::Gpu gpu("alloc", gpu_check::AnswerWriter(STDOUT_FILENO), {});
  const auto pair = [&] { gpu.must("cuMemFree", gpu.api.cuMemFree_v2(gpu.allocate(3 * gpu_check::kMiB))); };
  pair();
  gpu.finish_all();
  const double elapsed = gpu_check::timed([&] {
    for (int i = 0; i < count; ++i) pair();
  });
  gpu.number("pair", elapsed / count, "ns");
}
