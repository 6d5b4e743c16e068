// One kernel launch: its parameters, read at the call, and its run on a compute thread. Called by the launch
// entry points. Thread rule: a launch belongs to one operation. Failure rule: a fault kills the context and
// says why once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "tools/softgpu/driver/modules.hpp"

namespace softgpu {

// The device memory that the blocks of a cooperative launch meet in; a graph keeps it from launch to launch.
struct Workspace {
  static constexpr std::uint64_t kBytes = 4096;
  explicit Workspace(std::uint64_t at) : address(at) {}
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  void clear() const;
  const std::uint64_t address;
};

struct KernelLaunch {
  FunctionPtr function;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t dynamic_shared = 0;
  bool cooperative = false;
  std::vector<std::uint8_t> parameters;
  std::shared_ptr<Workspace> workspace;  // of a cooperative launch
};

// Where a cooperative launch's blocks meet.
CUresult make_workspace(int device, CUcontext context, KernelLaunch* launch);
// Shape and resources against the device's limits.
CUresult check_launch(const KernelLaunch& launch);
// From kernelParams (one pointer a parameter) or extra (a buffer and its size).
CUresult read_parameters(KernelLaunch& launch, void** kernel_params, void** extra);
void execute_launch(const KernelLaunch& launch, Fate& fate, Progress& progress);

// How many blocks a multiprocessor takes.
int most_resident_blocks(const KernelInfo& info, int block_size, std::size_t dynamic_shared);

}  // namespace softgpu
