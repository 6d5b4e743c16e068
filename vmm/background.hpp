// Runs the advisor's work on a thread of its own, one piece at a time; there is no thread while there is no
// work. Called by the engine, on its thread; `forget` in a forked child. Thread rule: one caller; what runs
// sees nothing of the caller's. Failure rule: where no thread can be had the work is done at once.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "vmm/advisor.hpp"

namespace tencache::vmm {

class Background {
 public:
  Background() = default;
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() { stop(); }

  [[nodiscard]] bool busy() const { return work_ != nullptr; }
  // Not while busy.
  void start(std::unique_ptr<Work> work);
  // The work, once it has been done.
  std::unique_ptr<Work> take_done();
  // Ends what runs, soon; its work is lost.
  void stop();
  // The thread is another process's.
  void forget() { new (&thread_) std::thread(); }

 private:
  std::unique_ptr<Work> work_;
  std::atomic<bool> done_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace tencache::vmm
