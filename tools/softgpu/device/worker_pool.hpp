// Threads that run operations first in, first out: one thread for an in-order engine, as many as kernels may
// be resident for compute. Called by the scheduler. Thread rule: push from any thread. Failure rule: nothing
// fails; threads are started when needed and never joined, so that a kernel that never ends cannot hang the
// exit.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "tools/softgpu/device/operation.hpp"

namespace softgpu {

class WorkerPool {
 public:
  using Run = std::function<void(const OperationPtr&)>;
  // The pool lives for ever: its threads use it until the process ends.
  WorkerPool(std::uint64_t most_threads, Run run) : most_threads_(most_threads), run_(std::move(run)) {}
  void push(OperationPtr operation);

 private:
  void start_thread();
  void work();

  const std::uint64_t most_threads_;
  const Run run_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<OperationPtr> queue_;
  std::uint64_t threads_ = 0;
  std::uint64_t idle_ = 0;
};

// Starts a detached thread with all signals blocked and the finest timers.
void start_detached(std::function<void()> body);

}  // namespace softgpu
