// What a door adds to a call: both ways in one process, in bursts that alternate. Two neighbours are a pair,
// and the figure is the median of the pairs' differences, so that what the machine does to one half it does
// to the other, and what the driver itself spends is in both. The stream is held back while calls are timed,
// so that the device's threads do not get in the way. The wall clock is the figure; the thread's own CPU time
// stands beside it, for a busy machine. Used by the cases that time launches. Thread rule: one thread.
// Failure rule: Gpu::must().
#pragma once

#include <ctime>
#include <mutex>
#include <vector>

#include "tools/bench_cases/cases.hpp"

namespace bench {

// Nanoseconds of one call.
struct Cost {
  double wall;
  double cpu;
};

inline double thread_cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

class HeldBackStream {
 public:
  // `driver`: the genuine one. Behind tencache's back, which does not let launches run far ahead of a host
  // function.
  HeldBackStream(const gpu_check::Gpu& gpu, const gpu_check::DriverApi& driver)
      : gpu_(gpu), driver_(driver), stream_(gpu.new_stream()) {}
  [[nodiscard]] gpu_check::Stream stream() const { return stream_; }

  template <class Call>
  Cost burst(int count, const Call& call) {
    std::unique_lock held_back(gate_);
    gpu_.must("cuLaunchHostFunc", driver_.cuLaunchHostFunc(stream_, wait_at_gate, &gate_));
    const double cpu_before = thread_cpu_ns();
    const double wall = gpu_check::timed([&] {
      for (int i = 0; i < count; ++i) call();
    });
    const double cpu = thread_cpu_ns() - cpu_before;
    held_back.unlock();
    gpu_.finish(stream_);
    return {wall / count, cpu / count};
  }

 private:
  static void wait_at_gate(void* gate) { const std::lock_guard passing(*static_cast<std::mutex*>(gate)); }

  const gpu_check::Gpu& gpu_;
  const gpu_check::DriverApi& driver_;
  const gpu_check::Stream stream_;
  std::mutex gate_;  // shut while calls are timed
};

struct Added {
  double wall;
  double cpu;
  double genuine;  // what the driver alone takes
};

// `burst(api)` makes one burst through that driver API.
template <class Burst>
Added compare(const gpu_check::DriverApi& door, const gpu_check::DriverApi& genuine, int pairs,
              const Burst& burst) {
  std::vector<double> wall;
  std::vector<double> cpu;
  std::vector<double> alone;
  (void)burst(door);
  for (int i = 0; i < pairs; ++i) {
    const bool door_first = i % 2 == 0;
    const Cost first = burst(door_first ? door : genuine);
    const Cost second = burst(door_first ? genuine : door);
    const Cost& of_door = door_first ? first : second;
    const Cost& of_genuine = door_first ? second : first;
    wall.push_back(of_door.wall - of_genuine.wall);
    cpu.push_back(of_door.cpu - of_genuine.cpu);
    alone.push_back(of_genuine.wall);
  }
  return {gpu_check::median(wall), gpu_check::median(cpu), gpu_check::median(alone)};
}

}  // namespace bench
