// Decides when each operation starts: stream order, events, the legacy stream's rules, hardware queues,
// engines. One per process, called by the driver API. Thread rule: any thread; one lock inside, never held
// while an operation runs. Failure rule: nothing fails; operations of a dead context complete without
// running.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "tools/softgpu/device/chaos.hpp"
#include "tools/softgpu/device/operation.hpp"
#include "tools/softgpu/device/settings.hpp"
#include "tools/softgpu/device/worker_pool.hpp"

namespace softgpu {

class Scheduler {
 public:
  // Lives for ever, like its threads.
  Scheduler(const Settings& settings, int devices);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // A context's streams, with its legacy stream.
  std::shared_ptr<StreamGroup> create_group(std::shared_ptr<Fate> fate);
  std::shared_ptr<StreamQueue> create_stream(const std::shared_ptr<StreamGroup>& group, StreamKind kind);
  // Work already in the stream still runs.
  void destroy_stream(const std::shared_ptr<StreamQueue>& stream);
  void remove_group(const std::shared_ptr<StreamGroup>& group);

  // Puts the operation behind what its stream holds; blocks while the stream is full.
  void submit(const OperationPtr& operation);

  // The process ends: what runs is to stop, what has not begun never does.
  void cancel_all();

  void wait(const OperationPtr& operation);
  void wait_stream(const StreamQueue& stream);
  void wait_group(const StreamGroup& group);
  void wait_device(int device);
  [[nodiscard]] bool is_idle(const StreamQueue& stream);
  [[nodiscard]] OperationPtr last(const StreamQueue& stream);
  // The last operation of every stream of the group that has one pending.
  [[nodiscard]] std::vector<OperationPtr> pending(const StreamGroup& group);

 private:
  using HardwareQueue = std::deque<OperationPtr>;
  struct DeviceQueues {
    std::vector<HardwareQueue> compute, copy_to_device, copy_to_host;
    std::unique_ptr<WorkerPool> compute_pool, to_device_engine, to_host_engine;
  };

  void wait_for_room(const StreamQueue& stream, std::unique_lock<std::mutex>& lock);
  void order_locked(Operation& operation);
  HardwareQueue& queue_of(const Operation& operation);
  void dispatch_locked();
  bool dispatch_queue_locked(HardwareQueue& queue);
  void start_locked(const OperationPtr& operation);
  void finish_locked(Operation& operation, std::uint64_t end);
  void run(const OperationPtr& operation);
  void keep_time();
  void start_timer_locked();
  std::uint64_t poll_locked();

  const Settings& settings_;
  const Chaos chaos_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable room_;
  std::condition_variable timer_;
  std::vector<DeviceQueues> devices_;
  std::unique_ptr<WorkerPool> host_thread_;
  std::vector<std::shared_ptr<StreamGroup>> groups_;
  std::vector<OperationPtr> polled_;
  std::uint64_t next_hold_ = 0;  // when the timer must look at the queues again; 0: not needed
  bool timer_started_ = false;
  std::uint64_t next_stream_id_ = 1;
};

}  // namespace softgpu
