// Programs that stop for good when a launch waits for GPU work without a way out. Knows nothing of tencache.
//   progress SCENARIO LAYOUT   layout `one`: all tensors lie in one allocation; `many`: each has its own
// Prints the number of wrong values and exits 0 when there is none.
#include <cuda_runtime.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr int kTensors = 12;
constexpr int kHeld = 4;  // by the kernel that spins
constexpr unsigned kWords = 64u << 10;
constexpr int kRounds = 2;
constexpr int kStreams = 3;

struct Held {
  unsigned* tensors[kHeld];
};

__device__ void add_to(unsigned* tensor, unsigned value) {
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < kWords; i += stride) tensor[i] += value;
}

__global__ void add(unsigned* tensor, unsigned value) { add_to(tensor, value); }

__global__ void add_when_set(Held held, const volatile unsigned* flag, unsigned awaited) {
  while (*flag != awaited) {
  }
  for (unsigned* tensor : held.tensors) add_to(tensor, awaited);
}

__global__ void set(volatile unsigned* flag, unsigned value) { *flag = value; }

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
  std::exit(2);
}

// Tensor t is used on stream t % kStreams alone; the held ones lie on the first.
struct Program {
  explicit Program(bool one_allocation) {
    for (cudaStream_t& stream : streams)
      check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    unsigned* whole = nullptr;
    constexpr std::size_t kBytes = kWords * sizeof(unsigned);
    if (one_allocation) check(cudaMalloc(&whole, kTensors * kBytes), "cudaMalloc");
    for (int t = 0; t < kTensors; ++t) {
      if (one_allocation) tensors[t] = whole + static_cast<std::size_t>(t) * kWords;
      if (!one_allocation) check(cudaMalloc(&tensors[t], kBytes), "cudaMalloc");
      check(cudaMemset(tensors[t], 0, kBytes), "cudaMemset");
    }
    check(cudaMalloc(&device_flag, sizeof(unsigned)), "cudaMalloc");
    check(cudaMemset(device_flag, 0, sizeof(unsigned)), "cudaMemset");
    check(cudaMallocHost(&host_flag, sizeof(unsigned)), "cudaMallocHost");
    *host_flag = 0;
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  void add_everywhere(unsigned value) {
    for (int t = 0; t < kTensors; ++t) add_one(t, value);
  }
  void add_one(int t, unsigned value) {
    add<<<4, 128, 0, streams[t % kStreams]>>>(tensors[t], value);
    check(cudaGetLastError(), "launch");
    expected[t] += value;
  }
  void spin(const unsigned* flag, unsigned awaited) {
    Held held{};
    for (int h = 0; h < kHeld; ++h) {
      held.tensors[h] = tensors[h * kStreams];
      expected[h * kStreams] += awaited;
    }
    add_when_set<<<1, 128, 0, streams[0]>>>(held, flag, awaited);
    check(cudaGetLastError(), "launch");
  }
  void run_on_host(cudaStream_t stream, void (*function)(void*), void* data) {
    check(cudaLaunchHostFunc(stream, function, data), "cudaLaunchHostFunc");
  }

  std::array<cudaStream_t, kStreams> streams{};
  std::array<unsigned*, kTensors> tensors{};
  std::array<unsigned, kTensors> expected{};
  unsigned* device_flag = nullptr;
  volatile unsigned* host_flag = nullptr;
};

struct Lock {
  std::mutex mutex;
  std::atomic<int> taken{0};  // by host functions
};

void take(void* data) {
  auto* lock = static_cast<Lock*>(data);
  const std::lock_guard<std::mutex> guard(lock->mutex);
  ++lock->taken;
}

// A host function takes a mutex that the launching thread holds.
void mutex_round(Program& program, unsigned round, Lock& lock) {
  const std::lock_guard<std::mutex> guard(lock.mutex);
  for (cudaStream_t stream : program.streams) program.run_on_host(stream, take, &lock);
  program.add_everywhere(round);
}

// A kernel spins on a flag that a later launch on another stream sets.
void later_launch_round(Program& program, unsigned round, Lock&) {
  program.spin(program.device_flag, round);
  for (int t = 1; t < kTensors; t += kStreams) program.add_one(t, round);
  set<<<1, 1, 0, program.streams[1]>>>(program.device_flag, round);
  check(cudaGetLastError(), "launch");
}

// A kernel spins on a flag that the CPU sets once the launches behind it have returned.
void cpu_flag_round(Program& program, unsigned round, Lock&) {
  program.spin(const_cast<const unsigned*>(program.host_flag), round);
  program.add_everywhere(round);
  *program.host_flag = round;
}

// Launches from a thread that holds a lock which host functions of another thread need.
void callback_round(Program& program, unsigned round, Lock& lock) {
  std::thread other([&] {
    for (int i = 0; i < 20; ++i) program.run_on_host(program.streams[i % kStreams], take, &lock);
  });
  for (int t = 0; t < kTensors; ++t) {
    const std::lock_guard<std::mutex> guard(lock.mutex);
    program.add_one(t, round);
  }
  other.join();
}

struct Scenario {
  std::string_view name;
  void (*round)(Program&, unsigned, Lock&);
};
constexpr Scenario kScenarios[] = {{"mutex", mutex_round},
                                   {"later_launch", later_launch_round},
                                   {"cpu_flag", cpu_flag_round},
                                   {"callback", callback_round}};

std::size_t wrong_values(const Program& program) {
  std::size_t wrong = 0;
  std::vector<unsigned> values(kWords);
  for (int t = 0; t < kTensors; ++t) {
    check(cudaMemcpy(values.data(), program.tensors[t], kWords * sizeof(unsigned), cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    for (unsigned value : values) wrong += value != program.expected[t] ? 1 : 0;
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  for (const Scenario& scenario : kScenarios) {
    if (argc != 3 || scenario.name != argv[1]) continue;
    Program program(std::strcmp(argv[2], "one") == 0);
    Lock lock;
    for (unsigned round = 1; round <= kRounds; ++round) {
      program.add_everywhere(round);
      scenario.round(program, round, lock);
      check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
    const std::size_t wrong = wrong_values(program);
    std::printf("%zu wrong values, %d host functions\n", wrong, lock.taken.load());
    return wrong == 0 ? 0 : 1;
  }
  std::fputs("usage: progress mutex|later_launch|cpu_flag|callback one|many\n", stderr);
  return 2;
}
