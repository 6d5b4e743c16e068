#include "tools/softgpu/device/scheduler.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "tools/softgpu/device/clock.hpp"
#include "tools/softgpu/device/statistics.hpp"

namespace softgpu {
namespace {

constexpr std::uint64_t kPollInterval = 20'000;
// So far the device clock may lag behind the wall: a host thread that ran late is made up for by what
// follows. A copy's own work is short, its lateness is the host's.
constexpr std::uint64_t kMadeUpFor = 2'000'000;
constexpr std::uint64_t kMadeUpForByCopies = 20'000'000;
constexpr std::chrono::microseconds kRoomInterval(200);

bool is_complete(const OperationPtr& operation) { return operation == nullptr || operation->complete.load(); }

std::uint64_t made_up_for(EngineKind engine) {
  const bool copy = engine == EngineKind::kCopyToDevice || engine == EngineKind::kCopyToHost;
  return copy ? kMadeUpForByCopies : kMadeUpFor;
}

bool dependencies_complete(const Operation& operation) {
  return std::all_of(operation.dependencies.begin(), operation.dependencies.end(), is_complete);
}

// On the device clock an operation starts when the last thing it waited for ended.
std::uint64_t start_time(const Operation& operation) {
  std::uint64_t start = std::max(operation.enqueued, operation.hold_until);
  for (const OperationPtr& dependency : operation.dependencies)
    start = std::max(start, dependency->end.load());
  return start;
}

}  // namespace

Scheduler::Scheduler(const Settings& settings, int devices)
    : settings_(settings), chaos_(Chaos::from_setting(settings.chaos, settings.chaos_delay)) {
  const auto run_operation = [this](const OperationPtr& operation) { run(operation); };
  const auto queues = std::vector<HardwareQueue>(std::max<std::uint64_t>(1, settings.hardware_queues));
  devices_.resize(static_cast<std::size_t>(devices));
  for (DeviceQueues& device : devices_) {
    device.compute = device.copy_to_device = device.copy_to_host = queues;
    device.compute_pool = std::make_unique<WorkerPool>(settings.resident_kernels, run_operation);
    device.to_device_engine = std::make_unique<WorkerPool>(1, run_operation);
    device.to_host_engine = std::make_unique<WorkerPool>(1, run_operation);
  }
  host_thread_ = std::make_unique<WorkerPool>(1, run_operation);
}

std::shared_ptr<StreamGroup> Scheduler::create_group(std::shared_ptr<Fate> fate) {
  auto group = std::make_shared<StreamGroup>();
  group->fate = std::move(fate);
  create_stream(group, StreamKind::kLegacy);
  const std::lock_guard lock(mutex_);
  groups_.push_back(group);
  return group;
}

std::shared_ptr<StreamQueue> Scheduler::create_stream(const std::shared_ptr<StreamGroup>& group,
                                                      StreamKind kind) {
  auto stream = std::make_shared<StreamQueue>();
  stream->kind = kind;
  stream->fate = group->fate;
  stream->group = group;
  const std::lock_guard lock(mutex_);
  stream->id = next_stream_id_++;
  std::erase_if(group->streams, [](const auto& each) { return each->destroyed && each->pending == 0; });
  group->streams.push_back(stream);
  return stream;
}

void Scheduler::destroy_stream(const std::shared_ptr<StreamQueue>& stream) {
  const std::lock_guard lock(mutex_);
  stream->destroyed = true;
}

void Scheduler::remove_group(const std::shared_ptr<StreamGroup>& group) {
  const std::lock_guard lock(mutex_);
  std::erase(groups_, group);
}

void Scheduler::submit(const OperationPtr& operation) {
  StreamQueue& stream = *operation->stream;
  std::unique_lock lock(mutex_);
  wait_for_room(stream, lock);
  operation->enqueued = now_ns();
  order_locked(*operation);
  stream.last = operation;
  ++stream.pending;
  const std::uint64_t index = stream.submitted++;
  if (chaos_.enabled()) {
    const std::uint64_t delay = chaos_.start_delay(stream.id, index);
    operation->hold_until = delay == 0 ? 0 : operation->enqueued + delay;
    operation->completion_delay = chaos_.completion_delay(stream.id, index);
  }
  queue_of(*operation).push_back(operation);
  dispatch_locked();
}

// A slot is enough, but whoever waits for one is woken for many, or looks again itself.
void Scheduler::wait_for_room(const StreamQueue& stream, std::unique_lock<std::mutex>& lock) {
  const auto has_room = [&] { return stream.pending < settings_.queue_capacity; };
  while (!room_.wait_for(lock, kRoomInterval, has_room)) {
  }
}

// What must end first: the stream's last operation, and between the legacy stream and blocking streams each
// other's.
void Scheduler::order_locked(Operation& operation) {
  const auto depend_on = [&operation](const OperationPtr& last) {
    if (!is_complete(last)) operation.dependencies.push_back(last);
  };
  const StreamQueue& stream = *operation.stream;
  depend_on(stream.last);
  const auto group = stream.group.lock();
  if (group == nullptr || stream.kind == StreamKind::kNonBlocking) return;
  if (stream.kind == StreamKind::kBlocking) {
    depend_on(group->streams.front()->last);
    return;
  }
  for (const auto& other : group->streams)
    if (other->kind == StreamKind::kBlocking) depend_on(other->last);
}

Scheduler::HardwareQueue& Scheduler::queue_of(const Operation& operation) {
  DeviceQueues& device = devices_[static_cast<std::size_t>(operation.stream->fate->device)];
  auto& queues = operation.engine == EngineKind::kCopyToDevice ? device.copy_to_device
                 : operation.engine == EngineKind::kCopyToHost ? device.copy_to_host
                                                               : device.compute;
  return queues[operation.stream->id % queues.size()];
}

void Scheduler::dispatch_locked() {
  for (bool progress = true; progress;) {
    progress = false;
    for (DeviceQueues& device : devices_)
      for (auto* queues : {&device.compute, &device.copy_to_device, &device.copy_to_host})
        for (HardwareQueue& queue : *queues) progress |= dispatch_queue_locked(queue);
  }
}

// A hardware queue starts its operations in order; one that cannot start yet holds up those behind it.
bool Scheduler::dispatch_queue_locked(HardwareQueue& queue) {
  bool progress = false;
  while (!queue.empty() && dependencies_complete(*queue.front())) {
    const std::uint64_t hold = queue.front()->hold_until;
    if (hold != 0 && hold > now_ns()) {
      next_hold_ = next_hold_ == 0 ? hold : std::min(next_hold_, hold);
      start_timer_locked();
      break;
    }
    const OperationPtr operation = std::move(queue.front());
    queue.pop_front();
    start_locked(operation);
    progress = true;
  }
  return progress;
}

void Scheduler::start_locked(const OperationPtr& operation) {
  operation->start = start_time(*operation);
  DeviceQueues& device = devices_[static_cast<std::size_t>(operation->stream->fate->device)];
  switch (operation->engine) {
    case EngineKind::kInline:
      return finish_locked(*operation, operation->start);
    case EngineKind::kCompute:
      return device.compute_pool->push(operation);
    case EngineKind::kCopyToDevice:
      return device.to_device_engine->push(operation);
    case EngineKind::kCopyToHost:
      return device.to_host_engine->push(operation);
    case EngineKind::kHostThread:
      return host_thread_->push(operation);
    case EngineKind::kPoll:
      polled_.push_back(operation);
      return start_timer_locked();
  }
}

void Scheduler::finish_locked(Operation& operation, std::uint64_t end) {
  operation.end.store(end);
  operation.complete.store(true);
  operation.dependencies.clear();
  StreamQueue& stream = *operation.stream;
  --stream.pending;
  if (stream.last.get() == &operation) stream.last.reset();
  if (operation.awaited) changed_.notify_all();
  if (stream.pending == settings_.queue_capacity * 7 / 8) room_.notify_all();
}

// On an engine's thread, without the lock.
void Scheduler::run(const OperationPtr& operation) {
  Progress progress{operation->start, operation->start};
  if (!operation->stream->fate->cancelled.load()) operation->body(progress);
  operation->body = nullptr;
  const std::uint64_t now = now_ns();
  if (now > progress.end && progress.end > progress.start) count(statistics().overruns);
  if (now > progress.end + made_up_for(operation->engine)) progress.end = now;
  if (!operation->stream->fate->cancelled.load()) wait_until_ns(progress.end + operation->completion_delay);
  const std::lock_guard lock(mutex_);
  finish_locked(*operation, progress.end);
  dispatch_locked();
}

void Scheduler::start_timer_locked() {
  if (timer_started_) {
    timer_.notify_one();
    return;
  }
  timer_started_ = true;
  start_detached([this] { keep_time(); });
}

// The timer's thread: starts what was held back, and looks at what waits for a value in memory.
void Scheduler::keep_time() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const std::uint64_t next_poll = poll_locked();  // first: what it ends may let others be held back
    const std::uint64_t deadline = next_hold_ == 0 ? next_poll : std::min(next_poll, next_hold_);
    const std::uint64_t now = now_ns();
    if (deadline == ~std::uint64_t{0}) {
      timer_.wait(lock);
    } else if (deadline > now) {
      timer_.wait_for(lock, std::chrono::nanoseconds(deadline - now));
    }
    if (next_hold_ != 0 && next_hold_ <= now_ns()) {
      next_hold_ = 0;
      dispatch_locked();
    }
  }
}

// When to poll again.
std::uint64_t Scheduler::poll_locked() {
  std::vector<OperationPtr> waiting = std::exchange(polled_, {});
  bool progress = false;
  for (const OperationPtr& operation : waiting) {
    if (!operation->stream->fate->cancelled.load() && !operation->poll()) {
      polled_.push_back(operation);
      continue;
    }
    finish_locked(*operation, now_ns());
    progress = true;
  }
  if (progress) dispatch_locked();
  return polled_.empty() ? ~std::uint64_t{0} : now_ns() + kPollInterval;
}

void Scheduler::cancel_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& group : groups_) group->fate->cancelled.store(true);
}

void Scheduler::wait(const OperationPtr& operation) {
  if (is_complete(operation)) return;
  std::unique_lock lock(mutex_);
  operation->awaited = true;
  changed_.wait(lock, [&] { return is_complete(operation); });
}

OperationPtr Scheduler::last(const StreamQueue& stream) {
  const std::lock_guard lock(mutex_);
  return stream.last;
}

bool Scheduler::is_idle(const StreamQueue& stream) { return is_complete(last(stream)); }

void Scheduler::wait_stream(const StreamQueue& stream) { wait(last(stream)); }

std::vector<OperationPtr> Scheduler::pending(const StreamGroup& group) {
  std::vector<OperationPtr> found;
  const std::lock_guard lock(mutex_);
  for (const auto& stream : group.streams)
    if (!is_complete(stream->last)) found.push_back(stream->last);
  return found;
}

void Scheduler::wait_group(const StreamGroup& group) {
  for (const OperationPtr& operation : pending(group)) wait(operation);
}

void Scheduler::wait_device(int device) {
  std::vector<std::shared_ptr<StreamGroup>> groups;
  {
    const std::lock_guard lock(mutex_);
    groups = groups_;
  }
  for (const auto& group : groups)
    if (group->fate->device == device) wait_group(*group);
}

}  // namespace softgpu
