#include "tools/softgpu/device/worker_pool.hpp"

#include <pthread.h>
#include <sys/prctl.h>

#include <csignal>
#include <thread>
#include <utility>

namespace softgpu {
namespace {

thread_local const WorkerPool* own_pool = nullptr;

}  // namespace

void start_detached(std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([body = std::move(body)] {
    prctl(PR_SET_TIMERSLACK, 1UL);
    body();
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void WorkerPool::push(OperationPtr operation) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(operation));
    // A worker that starts what follows its own operation takes it itself when it is back.
    if (own_pool == this && queue_.size() == 1) return;
    if (idle_ < queue_.size() && threads_ < most_threads_) start_thread();
  }
  wake_.notify_one();
}

void WorkerPool::start_thread() {
  ++threads_;
  start_detached([this] { work(); });
}

void WorkerPool::work() {
  own_pool = this;
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [this] { return !queue_.empty(); });
    --idle_;
    OperationPtr operation = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    run_(operation);
    operation.reset();
    lock.lock();
  }
}

}  // namespace softgpu
