#include "vmm/background.hpp"

#include <pthread.h>
#include <signal.h>

#include <system_error>

#include "src/driver/inside.hpp"

namespace tencache::vmm {

void Background::start(std::unique_ptr<Work> work) {
  work_ = std::move(work);
  done_.store(false, std::memory_order_relaxed);
  stop_.store(false, std::memory_order_relaxed);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] {
      const Inside inside;
      pthread_setname_np(pthread_self(), "tencache-plan");
      work_->run(stop_);
      done_.store(true, std::memory_order_release);
    });
  } catch (const std::system_error&) {
    work_->run(stop_);
    done_.store(true, std::memory_order_release);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::unique_ptr<Work> Background::take_done() {
  if (work_ == nullptr || !done_.load(std::memory_order_acquire)) return nullptr;
  if (thread_.joinable()) thread_.join();
  return std::move(work_);
}

void Background::stop() {
  stop_.store(true, std::memory_order_relaxed);
  if (thread_.joinable()) thread_.join();
  work_.reset();
}

}  // namespace tencache::vmm
