#include "tools/softgpu/device/copy.hpp"

#include <algorithm>
#include <cstring>

#include "tools/softgpu/device/clock.hpp"
#include "tools/softgpu/device/machine.hpp"
#include "tools/softgpu/device/statistics.hpp"

namespace softgpu {
namespace {

constexpr std::uint64_t kWorthWaiting = 200'000;

bool is_on_device(Place place) { return place == Place::kDevice; }

// Holds a copy against the device clock while it goes on.
class Pace {
 public:
  Pace(Device& device, EngineKind engine, Progress& progress)
      : device_(device), engine_(engine), progress_(progress) {
    progress.end = progress.start + settings().copy_time;
    if (engine != EngineKind::kCompute) device.link.enter(direction());
  }
  ~Pace() {
    if (engine_ != EngineKind::kCompute) device_.link.leave(direction());
  }
  Pace(const Pace&) = delete;
  Pace& operator=(const Pace&) = delete;

  [[nodiscard]] std::uint64_t piece() const {
    return engine_ == EngineKind::kCompute ? std::uint64_t{1} << 22 : device_.link.piece(direction());
  }

  void charge(std::uint64_t bytes) {
    if (engine_ == EngineKind::kCompute) {
      progress_.end += duration_ns(bytes, settings().d2d);
      count(statistics().bytes_d2d, bytes);
      return;
    }
    progress_.end = device_.link.transfer(direction(), progress_.end, bytes);
    count(direction() == Direction::kToDevice ? statistics().bytes_h2d : statistics().bytes_d2h, bytes);
    if (progress_.end > now_ns() + kWorthWaiting) wait_until_ns(progress_.end - kWorthWaiting / 2);
  }

 private:
  [[nodiscard]] Direction direction() const {
    return engine_ == EngineKind::kCopyToDevice ? Direction::kToDevice : Direction::kToHost;
  }
  Device& device_;
  EngineKind engine_;
  Progress& progress_;
};

// False where a page is not mapped (any more).
bool copy_bytes(const AddressSpace& space, std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  while (bytes > 0) {
    std::uint64_t to_run = 0;
    std::uint64_t from_run = 0;
    std::uint8_t* target = space.translate(to, true, &to_run);
    const std::uint8_t* source = space.translate(from, false, &from_run);
    if (target == nullptr || source == nullptr) return false;
    const std::uint64_t run = std::min({bytes, to_run, from_run});
    std::memmove(target, source, run);
    to += run;
    from += run;
    bytes -= run;
  }
  return true;
}

// A row in pieces, so that the link is shared fairly.
bool copy_row(const AddressSpace& space, Pace& pace, std::uint64_t to, std::uint64_t from,
              std::uint64_t bytes) {
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t piece = std::min(pace.piece(), bytes - done);
    if (!copy_bytes(space, to + done, from + done, piece)) return false;
    pace.charge(piece);
    done += piece;
  }
  return true;
}

void fill_run(std::uint8_t* target, std::uint64_t bytes, std::uint32_t value, std::uint64_t element) {
  if (element == 1) {
    std::memset(target, static_cast<int>(value), bytes);
    return;
  }
  for (std::uint64_t i = 0; i < bytes; i += element) std::memcpy(target + i, &value, element);
}

bool fill_row(const AddressSpace& space, std::uint64_t address, std::uint64_t bytes, const FillPlan& plan) {
  while (bytes > 0) {
    std::uint64_t run = 0;
    std::uint8_t* target = space.translate(address, true, &run);
    if (target == nullptr) return false;
    run = std::min(run, bytes);
    fill_run(target, run, plan.value, plan.element);
    address += run;
    bytes -= run;
  }
  return true;
}

// Blocks let go while this runs stay.
class Working {
 public:
  explicit Working(Device& device) : device_(device) { device_.work_begins(); }
  ~Working() { device_.work_ends(); }
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;

 private:
  Device& device_;
};

}  // namespace

EngineKind CopyPlan::engine() const {
  if (is_on_device(to.place))
    return is_on_device(from.place) ? EngineKind::kCompute : EngineKind::kCopyToDevice;
  return EngineKind::kCopyToHost;
}

void CopyPlan::stage() {
  staged = std::make_shared<std::vector<std::uint8_t>>(bytes());
  std::uint8_t* target = staged->data();
  for (std::uint64_t plane = 0; plane < depth; ++plane)
    for (std::uint64_t row = 0; row < height; ++row, target += width)
      std::memcpy(target, reinterpret_cast<const void*>(from.address + plane * from.slice + row * from.pitch),
                  width);
  from.address = reinterpret_cast<std::uint64_t>(staged->data());
  from.pitch = width;
  from.slice = width * height;
}

void execute_copy(Device& device, const CopyPlan& plan, Fate& fate, Progress& progress) {
  const Working working(device);
  Pace pace(device, plan.engine(), progress);
  for (std::uint64_t plane = 0; plane < plan.depth; ++plane) {
    for (std::uint64_t row = 0; row < plan.height; ++row) {
      const std::uint64_t to = plan.to.address + plane * plan.to.slice + row * plan.to.pitch;
      const std::uint64_t from = plan.from.address + plane * plan.from.slice + row * plan.from.pitch;
      if (copy_row(machine().space, pace, to, from, plan.width)) continue;
      fate.kill(CUDA_ERROR_ILLEGAL_ADDRESS);
      return;
    }
  }
}

void execute_fill(Device& device, const FillPlan& plan, Fate& fate, Progress& progress) {
  const Working working(device);
  const std::uint64_t bytes = plan.width * plan.element;
  progress.end = progress.start + settings().copy_time + duration_ns(bytes * plan.height, settings().d2d);
  count(statistics().bytes_set, bytes * plan.height);
  for (std::uint64_t row = 0; row < plan.height; ++row) {
    if (fill_row(machine().space, plan.address + row * plan.pitch, bytes, plan)) continue;
    fate.kill(CUDA_ERROR_ILLEGAL_ADDRESS);
    return;
  }
}

}  // namespace softgpu
