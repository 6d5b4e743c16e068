// The part of a device memory that gives the engine its turns: the thread, its pauses and its end.
#include <pthread.h>
#include <sys/prctl.h>

#include <chrono>
#include <csignal>
#include <new>

#include "src/driver/inside.hpp"
#include "vmm/device_memory.hpp"

namespace tencache::vmm {

namespace {

constexpr auto kPollsEvery = std::chrono::microseconds(20);
constexpr std::chrono::nanoseconds kLooksForIdleEvery(Engine::kLooksForIdleEvery.count());

}  // namespace

void DeviceMemory::start_thread() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void DeviceMemory::run() {
  const Inside inside;
  pthread_setname_np(pthread_self(), "tencache");
  prctl(PR_SET_TIMERSLACK, 1000);
  parts_.driver->cuCtxSetCurrent(parts_.context);
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  parts_.driver->cuThreadExchangeStreamCaptureMode(&mode);
  std::unique_lock<std::mutex> lock(state_.mutex);
  while (!stop_) {
    if (take_turn(lock) || stop_) continue;
    if (paused_) {
      state_.work.wait(lock, [this] { return !paused_ || stop_; });
    } else if (engine_->has_to_poll()) {
      state_.work.wait_for(lock, kPollsEvery);
    } else {
      state_.work.wait_for(lock, kLooksForIdleEvery,
                           [this] { return state_.work_pending || paused_ || stop_; });
    }
  }
}

bool DeviceMemory::take_turn(std::unique_lock<std::mutex>& lock) {
  if (paused_) return false;
  state_.work_pending = false;
  turning_ = true;
  lock.unlock();
  const bool progress = engine_->turn();
  lock.lock();
  turning_ = false;
  if (paused_) state_.settled.notify_all();
  return progress;
}

void DeviceMemory::pause() {
  std::unique_lock<std::mutex> lock(state_.mutex);
  paused_ = true;
  state_.settled.wait(lock, [this] { return !turning_; });
}

void DeviceMemory::resume() {
  const std::lock_guard<std::mutex> lock(state_.mutex);
  paused_ = false;
  state_.work.notify_all();
}

void DeviceMemory::go_passive(bool forked) {
  if (forked) {
    if (thread_.joinable()) new (&thread_) std::thread();  // that thread is the parent's
    if (engine_ != nullptr) engine_->forget_background();
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(state_.mutex);
    state_.passive = true;
    stop_ = true;
    state_.work.notify_all();
    state_.settled.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  if (engine_ != nullptr) engine_->stop_background();
}

}  // namespace tencache::vmm
