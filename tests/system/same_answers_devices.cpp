// Kernels on two devices, each given the other's addresses among its own.
#include <cuda.h>

#include <array>

#include "tests/system/same_answers.hpp"

namespace {

// Adds 1 to each of `count` words at `here`; `there` is a number to it.
constexpr const char* kKernel = R"(
.version 7.5
.target sm_75
.address_size 64
.visible .entry add_one(.param .u64 there, .param .u64 here, .param .u32 count) {
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [here];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.u32 %r6, [%rd4];
  add.s32 %r7, %r6, 1;
  st.global.u32 [%rd4], %r7;
DONE:
  ret;
}
)";
constexpr unsigned kWords = kBytes / sizeof(unsigned);
constexpr unsigned kAdded = 256;  // to the last of them

struct Device {
  CUcontext context = nullptr;
  CUfunction kernel = nullptr;
  std::array<CUdeviceptr, 12> memory{};

  void open(CUdevice device) {
    CUmodule module = nullptr;
    say("retain", cuDevicePrimaryCtxRetain(&context, device));
    say("current", cuCtxSetCurrent(context));
    say("load", cuModuleLoadData(&module, kKernel));
    say("function", cuModuleGetFunction(&kernel, module, "add_one"));
    for (CUdeviceptr& each : memory) {
      say("allocate", cuMemAlloc(&each, kBytes));
      say("fill", cuMemsetD32(each, 7, kWords));
    }
  }
  void add_one(const Device& other) {
    say("current", cuCtxSetCurrent(context));
    for (std::size_t i = 0; i < memory.size(); ++i) {
      CUdeviceptr there = other.memory[i];
      CUdeviceptr here = memory[i] + kBytes - kAdded * sizeof(unsigned);
      unsigned count = kAdded;
      std::array<void*, 3> parameters{&there, &here, &count};
      say("launch", cuLaunchKernel(kernel, 1, 1, 1, kAdded, 1, 1, 0, nullptr, parameters.data(), nullptr));
    }
  }
  void read() const {
    say("current", cuCtxSetCurrent(context));
    for (const CUdeviceptr each : memory) {
      unsigned last = 0;
      const CUresult result = cuMemcpyDtoH(&last, each + kBytes - sizeof(last), sizeof(last));
      say("read", result, last);
    }
  }
};

void add_fill(CUgraph graph, CUdeviceptr address, unsigned value, CUcontext context) {
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = address;
  fill.elementSize = sizeof(value);
  fill.value = value;
  fill.width = kWords;
  fill.height = 1;
  CUgraphNode node = nullptr;
  say("node", cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, context));
}

}  // namespace

void kernels_on_two_devices() {
  std::array<Device, 2> devices;
  devices[0].open(0);
  devices[1].open(1);
  for (int round = 0; round < 3; ++round) {
    devices[0].add_one(devices[1]);
    devices[1].add_one(devices[0]);
  }
  for (const Device& device : devices) device.read();
}

// One graph, launched on the first device, with nodes on both; in between each device uses all it has.
void a_graph_on_two_devices() {
  std::array<Device, 2> devices;
  devices[0].open(0);
  devices[1].open(1);
  for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    say("graph", cuGraphCreate(&graph, 0));
    for (const std::size_t which : {first, 1 - first})
      add_fill(graph, devices[which].memory[first], 20, devices[which].context);
    say("current", cuCtxSetCurrent(devices[0].context));
    say("instantiate", cuGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 3; ++round) {
      for (std::size_t which : {1, 0}) {
        devices[which].add_one(devices[1 - which]);
        say("synchronize", cuCtxSynchronize());
      }
      say("launch", cuGraphLaunch(exec, nullptr));
      say("synchronize", cuCtxSynchronize());
    }
  }
  for (const Device& device : devices) device.read();
}
