// engine-bench FILE.ptx [threads [name]]: lane-instructions a second of a few kernels, the best of five runs
// each. A core's speed is by the CPU time of all threads, so that other work on the machine counts little.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "tools/softgpu/engine/engine.hpp"

namespace {

using softgpu::Launch;

constexpr std::uint64_t kBase = 0x700000000000u;
constexpr unsigned kPageShift = 21;
constexpr std::size_t kPages = 16;
constexpr int kMatrix = 256, kElements = 2 << 20;

struct Case {
  const char* name;
  const char* kernel;
  std::array<std::uint32_t, 3> grid, block;
  int n;
};
constexpr Case kCases[] = {
    {"matmul_naive_32x8", "matmul_naive", {kMatrix / 32, kMatrix / 8, 1}, {32, 8, 1}, kMatrix},
    {"matmul_naive_16x16", "matmul_naive", {kMatrix / 16, kMatrix / 16, 1}, {16, 16, 1}, kMatrix},
    {"matmul_tiled_16x16", "matmul_tiled16", {kMatrix / 16, kMatrix / 16, 1}, {16, 16, 1}, kMatrix},
    {"matmul_tiled_32x32", "matmul_tiled32", {kMatrix / 32, kMatrix / 32, 1}, {32, 32, 1}, kMatrix},
    {"gelu", "gelu", {kElements / 256, 1, 1}, {256, 1, 1}, kElements},
    {"reduction", "reduction", {256, 1, 1}, {256, 1, 1}, kElements},
};

double seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Device memory: 16 pages of 2 MiB, three of 8 MiB used as the kernels' buffers.
struct Memory {
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>((kPages + 1) << kPageShift);
  std::vector<std::atomic<std::uint64_t>> entries = std::vector<std::atomic<std::uint64_t>>(kPages);
  softgpu::Mmu mmu;
  Memory() {
    const auto first = (reinterpret_cast<std::uint64_t>(bytes.data()) + 4095) & ~std::uint64_t{4095};
    for (std::size_t p = 0; p < kPages; ++p)
      entries[p] = (first + (p << kPageShift)) | softgpu::Mmu::kRead | softgpu::Mmu::kWrite;
    auto* values = reinterpret_cast<float*>(first);  // NOLINT
    for (std::size_t i = 0; i < (kPages << kPageShift) / sizeof(float); ++i)
      values[i] = static_cast<float>(i % 1000) * 0.001f;
    mmu.base = kBase;
    mmu.page_shift = kPageShift;
    mmu.count = kPages;
    mmu.entries = entries.data();
  }
};

std::vector<std::uint8_t> parameters_of(const Case& c) {
  std::vector<std::uint8_t> bytes;
  const auto add = [&](const auto& value) {
    bytes.resize(bytes.size() + sizeof value);
    std::memcpy(bytes.data() + bytes.size() - sizeof value, &value, sizeof value);
  };
  const bool matrix = std::strncmp(c.kernel, "matmul", 6) == 0;
  for (std::uint64_t k = 0; k < (matrix ? 3u : 2u); ++k) add(kBase + k * (std::uint64_t{8} << 20));
  add(c.n);
  return bytes;
}
void time_case(const softgpu::Program& program, const Memory& memory, const Case& c, unsigned threads) {
  const auto parameters = parameters_of(c);
  Launch launch;
  launch.program = &program;
  const auto kernels = program.kernels();
  launch.kernel = static_cast<std::size_t>(
      std::find_if(kernels.begin(), kernels.end(), [&](const auto& k) { return k.name == c.kernel; }) -
      kernels.begin());
  launch.grid = c.grid;
  launch.block = c.block;
  launch.parameters = parameters;
  launch.mmu = &memory.mmu;
  launch.threads = threads;
  double best = 1e9, best_core = 1e9;
  softgpu::Outcome outcome;
  for (int round = 0; round < 5; ++round) {
    const double start = seconds(CLOCK_MONOTONIC), start_core = seconds(CLOCK_PROCESS_CPUTIME_ID);
    outcome = softgpu::run(launch);
    best = std::min(best, seconds(CLOCK_MONOTONIC) - start);
    best_core = std::min(best_core, seconds(CLOCK_PROCESS_CPUTIME_ID) - start_core);
    if (outcome.kind != softgpu::OutcomeKind::kDone) return fmt::print("{:20} {}\n", c.name, outcome.message);
  }
  fmt::print("{:20} {:8.2f} ms {:8.2f} G lane-instructions/s a core\n", c.name, best * 1e3,
             static_cast<double>(outcome.lane_instructions) / best_core * 1e-9);
}
std::string read_file(const char* path) {
  std::string text;
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) return text;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
  std::fclose(file);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return fmt::print(stderr, "usage: engine-bench FILE.ptx [threads [name]]\n"), 2;
  std::string error;
  const auto program = softgpu::compile(read_file(argv[1]), &error);
  if (!program) return fmt::print(stderr, "{}\n", error), 1;
  const Memory memory;
  const unsigned threads = argc > 2 ? static_cast<unsigned>(std::max(1, std::atoi(argv[2]))) : 1;
  for (const Case& c : kCases) {
    if (argc < 4 || std::strcmp(argv[3], c.name) == 0) time_case(*program, memory, c, threads);
  }
  return 0;
}
