#include "tools/softgpu/driver/launch.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "tools/softgpu/device/clock.hpp"
#include "tools/softgpu/device/statistics.hpp"
#include "tools/softgpu/driver/device_attributes.hpp"
#include "tools/softgpu/driver/memory.hpp"

namespace softgpu {
namespace {

bool within(std::uint32_t value, CUdevice_attribute limit) {
  return value > 0 && value <= static_cast<std::uint32_t>(device_attribute(0, limit));
}

CUresult check_shape(const KernelLaunch& launch) {
  const bool grid = within(launch.grid[0], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) &&
                    within(launch.grid[1], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) &&
                    within(launch.grid[2], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
  const bool block = within(launch.block[0], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) &&
                     within(launch.block[1], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y) &&
                     within(launch.block[2], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
  return grid && block ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult error_of(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kDone:
    case OutcomeKind::kCancelled:
      return CUDA_SUCCESS;
    case OutcomeKind::kIllegalAddress:
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    case OutcomeKind::kMisaligned:
      return CUDA_ERROR_MISALIGNED_ADDRESS;
    case OutcomeKind::kAssert:
      return CUDA_ERROR_ASSERT;
    case OutcomeKind::kDeadlock:
      return CUDA_ERROR_LAUNCH_TIMEOUT;
    case OutcomeKind::kTrap:
    case OutcomeKind::kLaunchFailed:
      break;
  }
  return CUDA_ERROR_LAUNCH_FAILED;
}

void report_fault(const KernelInfo& info, const Outcome& outcome) {
  count(statistics().faults);
  std::fprintf(stderr, "softgpu: kernel %s, PTX line %u: %s", info.name.c_str(), outcome.line,
               outcome.message.c_str());
  if (outcome.kind == OutcomeKind::kIllegalAddress)
    std::fprintf(stderr, " (%s 0x%llx)", outcome.fault_is_write ? "write to" : "read from",
                 static_cast<unsigned long long>(outcome.fault_address));
  std::fputc('\n', stderr);
}

std::uint64_t global_timer(const void*) {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

// On the device clock: the instructions at their rate, and what went over the link when the link was free for
// it.
void charge(Device& device, const Outcome& outcome, Progress& progress) {
  progress.end =
      progress.start + settings().kernel_time + duration_ns(outcome.lane_instructions, settings().lane_rate);
  if (outcome.link_bytes_read > 0)
    progress.end = std::max(
        progress.end, device.link.transfer(Direction::kToDevice, progress.start, outcome.link_bytes_read));
  if (outcome.link_bytes_written > 0)
    progress.end = std::max(
        progress.end, device.link.transfer(Direction::kToHost, progress.start, outcome.link_bytes_written));
  count(statistics().launches);
  count(statistics().lane_instructions, outcome.lane_instructions);
  count(statistics().link_bytes_read, outcome.link_bytes_read);
  count(statistics().link_bytes_written, outcome.link_bytes_written);
}

Launch engine_launch(const KernelLaunch& launch, const Fate& fate) {
  Launch engine;
  engine.program = launch.function->program.get();
  engine.kernel = launch.function->kernel;
  engine.grid = launch.grid;
  engine.block = launch.block;
  engine.dynamic_shared_bytes = launch.dynamic_shared;
  engine.parameters = launch.parameters;
  engine.cooperative = launch.cooperative;
  engine.cooperative_workspace = launch.workspace == nullptr ? 0 : launch.workspace->address;
  engine.mmu = &machine().space.mmu(fate.device);
  engine.cancel = &fate.cancelled;
  engine.threads = static_cast<unsigned>(settings().threads);
  engine.globaltimer = &global_timer;
  engine.print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
  engine.device_malloc = [device = fate.device, context = launch.function->context](std::uint64_t bytes) {
    std::uint64_t address = 0;
    const CUresult made = allocate_device(device, context, Range::Kind::kInternal, bytes, &address);
    return made == CUDA_SUCCESS ? address : 0;
  };
  engine.device_free = [](std::uint64_t address) {
    release_memory(address, [](const Range& range) { return range.kind == Range::Kind::kInternal; });
  };
  return engine;
}

}  // namespace

Workspace::~Workspace() {
  release_memory(address, [](const Range& range) { return range.kind == Range::Kind::kInternal; });
}

void Workspace::clear() const {
  std::uint64_t run = 0;
  std::memset(machine().space.translate(address, true, &run), 0, kBytes);
}

CUresult make_workspace(int device, CUcontext context, KernelLaunch* launch) {
  std::uint64_t address = 0;
  SOFTGPU_TRY(allocate_device(device, context, Range::Kind::kInternal, Workspace::kBytes, &address));
  launch->workspace = std::make_shared<Workspace>(address);
  return CUDA_SUCCESS;
}

CUresult check_launch(const KernelLaunch& launch) {
  SOFTGPU_TRY(check_shape(launch));
  const std::uint64_t threads = std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  if (threads > static_cast<std::uint64_t>(device_attribute(0, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)))
    return CUDA_ERROR_INVALID_VALUE;
  if (threads > launch.function->info().max_threads) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  const int most_dynamic = launch.function->most_dynamic_shared.load();
  if (launch.dynamic_shared > static_cast<std::uint32_t>(most_dynamic)) return CUDA_ERROR_INVALID_VALUE;
  if (!launch.cooperative) return CUDA_SUCCESS;
  const std::uint64_t blocks = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  const int resident =
      most_resident_blocks(launch.function->info(), static_cast<int>(threads), launch.dynamic_shared) *
      device_attribute(0, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  return blocks > static_cast<std::uint64_t>(resident) ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
                                                       : CUDA_SUCCESS;
}

CUresult read_parameters(KernelLaunch& launch, void** kernel_params, void** extra) {
  const KernelInfo& info = launch.function->info();
  launch.parameters.assign(info.parameter_bytes, 0);
  if (kernel_params != nullptr) {
    for (std::size_t i = 0; i < info.parameters.size(); ++i)
      std::memcpy(launch.parameters.data() + info.parameters[i].offset, kernel_params[i],
                  info.parameters[i].size);
    return CUDA_SUCCESS;
  }
  if (extra == nullptr) return info.parameters.empty() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  const void* buffer = nullptr;
  std::size_t bytes = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = extra[1];
    } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      bytes = *static_cast<const std::size_t*>(extra[1]);
    } else {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  if (buffer == nullptr || bytes > info.parameter_bytes + 7) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(launch.parameters.data(), buffer, std::min<std::size_t>(bytes, info.parameter_bytes));
  return CUDA_SUCCESS;
}

void execute_launch(const KernelLaunch& launch, Fate& fate, Progress& progress) {
  Device& device = machine().device(fate.device);
  if (launch.workspace != nullptr) launch.workspace->clear();
  device.work_begins();
  const Outcome outcome = run(engine_launch(launch, fate));
  device.work_ends();
  charge(device, outcome, progress);
  const CUresult error = error_of(outcome.kind);
  if (error == CUDA_SUCCESS) return;
  report_fault(launch.function->info(), outcome);
  fate.kill(error);
}

}  // namespace softgpu
