// What a program may ask of pools, contexts and devices. Prints the driver's code for each call and what it
// answered; knows nothing of tencache.
//   same_answers SCENARIO    a name from kScenarios
#include <cuda.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/system/same_answers.hpp"

namespace {

// ---- contexts

void second_context() {
  CUdeviceptr mine = 0, other = 0;
  say("in the primary", cuMemAlloc(&mine, kBytes));
  use(mine, kBytes, 1);
  CUcontext primary = nullptr, second = nullptr, current = nullptr;
  say("current", cuCtxGetCurrent(&primary));
  say("create", cuCtxCreate(&second, nullptr, 0, 0));
  say("in the second", cuMemAlloc(&other, kBytes));
  use(other, kBytes, 2);
  use(mine, kBytes, 3);
  CUcontext its = nullptr;
  say_whether("context of mine", cuPointerGetAttribute(&its, CU_POINTER_ATTRIBUTE_CONTEXT, mine), its,
              primary);
  say_whether("context of other", cuPointerGetAttribute(&its, CU_POINTER_ATTRIBUTE_CONTEXT, other), its,
              second);
  say("copy between", cuMemcpyDtoD(mine, other, kBytes));
  say("synchronize", cuCtxSynchronize());
  say_whether("pop", cuCtxPopCurrent(&current), current, second);
  say("free across", cuMemFree(other));
  say("destroy", cuCtxDestroy(second));
  use(mine, kBytes, 4);
  say("free", cuMemFree(mine));
}

// Streams of another context work on the primary's memory, and go with their context.
void streams_of_another_context() {
  std::vector<CUdeviceptr> all(12);
  for (CUdeviceptr& each : all) {
    say("allocate", cuMemAlloc(&each, kBytes));
    use(each, kBytes, 1);
  }
  for (int round = 0; round < 3; ++round) {
    CUcontext second = nullptr;
    say("create", cuCtxCreate(&second, nullptr, 0, 0));
    const CUstream streams[] = {make_stream(), make_stream()};
    for (std::size_t i = 0; i < all.size(); ++i) {
      say("fill there", cuMemsetD8Async(all[i], static_cast<unsigned char>(round), kBytes, streams[i % 2]));
    }
    say("synchronize", cuCtxSynchronize());
    say("destroy", cuCtxDestroy(second));
    for (const CUdeviceptr each : all) use(each, kBytes, 9);
  }
}

void reset() {
  CUdeviceptr address = 0;
  for (int round = 0; round < 3; ++round) {
    CUcontext context = nullptr;
    say("retain", cuDevicePrimaryCtxRetain(&context, 0));
    say("current", cuCtxSetCurrent(context));
    for (int i = 0; i < 6; ++i) {
      say("allocate", cuMemAlloc(&address, 2 * kBytes));
      use(address, 2 * kBytes, static_cast<unsigned char>(i));
    }
    say("reset", cuDevicePrimaryCtxReset(0));
    say("free after the reset", cuMemFree(address));
  }
}

void from_threads() {
  CUcontext context = nullptr;
  say("current", cuCtxGetCurrent(&context));
  CUdeviceptr address = 0;
  CUresult without = CUDA_SUCCESS, with = CUDA_SUCCESS;
  std::thread([&] {
    without = cuMemAlloc(&address, kBytes);
    cuCtxSetCurrent(context);
    with = cuMemAlloc(&address, kBytes);
  }).join();
  say("without a context", without);
  say("with one", with);
  use(address, kBytes, 5);
  std::thread([&] { without = cuMemFree(address); }).join();
  say("free without a context", without);
}

// ---- devices

void devices() {
  CUcontext first = nullptr, second = nullptr;
  say("current", cuCtxGetCurrent(&first));
  CUdeviceptr here = 0, there = 0;
  say("here", cuMemAlloc(&here, kBytes));
  use(here, kBytes, 1);
  say("retain", cuDevicePrimaryCtxRetain(&second, 1));
  say("push", cuCtxPushCurrent(second));
  say("there", cuMemAlloc(&there, kBytes));
  use(there, kBytes, 2);
  int device = -1;
  say("device of here", cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, here),
      device == 0);
  say("device of there", cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, there),
      device == 1);
  say("peer copy", cuMemcpyPeer(here, first, there, second, kBytes));
  say("synchronize", cuCtxSynchronize());
  unsigned char read = 0;
  say("read", cuMemcpyDtoH(&read, here + 5, 1), read);
  use(here, kBytes, 6);
  CUstream stream = make_stream();
  say("peer copy async", cuMemcpyPeerAsync(there, second, here, first, kBytes, stream));
  say("synchronize", cuStreamSynchronize(stream));
  say("read", cuMemcpyDtoH(&read, there + 5, 1), read);
  say("free here", cuMemFree(here));
  say("free there", cuMemFree(there));
}

// ---- what the driver keeps for itself

// Nearly all of the device's memory is in use here, and some of it freed; then the driver's own calls want
// it.
void room() {
  std::vector<CUdeviceptr> used(9);
  for (CUdeviceptr& each : used) {
    say("allocate", cuMemAlloc(&each, 4 * kBytes));
    use(each, 4 * kBytes, 1);
  }
  CUdeviceptr freed = 0;
  say("allocate", cuMemAlloc(&freed, 14 * kBytes));
  use(freed, 14 * kBytes, 2);
  say("free", cuMemFree(freed));
  CUmemAllocationProp where{};
  where.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  where.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  CUmemGenericAllocationHandle handle = 0;
  CUresult created = CUDA_SUCCESS;
  std::thread([&] { created = cuMemCreate(&handle, 12 * kBytes, &where, 0); }).join();
  say("create without a context", created);
  CUdeviceptr address = 0;
  say("reserve", cuMemAddressReserve(&address, 12 * kBytes, 0, 0, 0));
  say("map", cuMemMap(address, 12 * kBytes, 0, handle, 0));
  const CUmemAccessDesc access{where.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  say("access", cuMemSetAccess(address, 12 * kBytes, &access, 1));
  use(address, 12 * kBytes, 3);
  CUdeviceptr managed = 0;
  say("managed", cuMemAllocManaged(&managed, 2 * kBytes, CU_MEM_ATTACH_GLOBAL));
  CUcontext context = nullptr;
  say("another context", cuCtxCreate(&context, nullptr, 0, 0));
  say("destroy it", cuCtxDestroy(context));
  for (const CUdeviceptr each : used) use(each, 4 * kBytes, 4);
  say("more than there is", cuMemCreate(&handle, std::size_t{1} << 40, &where, 0));
  say("still as it was", cuMemAlloc(&freed, kBytes));
  use(freed, kBytes, 5);
}

// What is ours is to the program what cuMemAlloc's memory is.
void mappings() {
  CUdeviceptr address = 0;
  say("allocate", cuMemAlloc(&address, 2 * kBytes));
  use(address, 2 * kBytes, 1);
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, {0}}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  say("unmap", cuMemUnmap(address, 2 * kBytes));
  say("access", cuMemSetAccess(address, 2 * kBytes, &access, 1));
  say("free the addresses", cuMemAddressFree(address, 2 * kBytes));
  say("map over it", cuMemMap(address, 2 * kBytes, 0, 0x1234, 0));
  use(address, 2 * kBytes, 2);
  say("free", cuMemFree(address));
}

// Values that streams write into memory and wait for, in more memory than there is to be in HBM.
void values() {
  const CUstream stream = make_stream();
  std::vector<CUdeviceptr> all(12);
  for (CUdeviceptr& each : all) {
    say("allocate", cuMemAlloc(&each, kBytes));
    use(each, kBytes, 1);
  }
  std::array<CUstreamBatchMemOpParams, 3> operations{};
  operations[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  operations[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  operations[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
  operations[2].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  for (unsigned i = 0; i < all.size(); ++i) {
    say("write", cuStreamWriteValue32(stream, all[i] + 64, i, 0));
    say("wait", cuStreamWaitValue32(stream, all[i] + 64, i, CU_STREAM_WAIT_VALUE_EQ));
    operations[0].writeValue.address = all[i] + 128;
    operations[0].writeValue.value64 = 1000 + i;
    operations[1].waitValue.address = all[i] + 64;
    operations[1].waitValue.value = i;
    operations[2].writeValue.address = all[(i + 5) % all.size()] + 192;
    operations[2].writeValue.value = 2000 + i;
    say("batch", cuStreamBatchMemOp(stream, 3, operations.data(), 0));
  }
  say("synchronize", cuStreamSynchronize(stream));
  for (const CUdeviceptr each : all) {
    std::array<std::uint32_t, 64> words{};
    const CUresult result = cuMemcpyDtoH(words.data(), each, sizeof words);
    say("words", result, words[16] * 1000000ull + words[32] * 1000ull + words[48] + words[49]);
    use(each, kBytes, 2);
  }
  CUdeviceptr freed = 0;
  say("allocate", cuMemAlloc(&freed, 2 * kBytes));
  say("free", cuMemFree(freed));
  say("write to freed memory", cuStreamWriteValue32(stream, freed, 1, 0));
}

void sizes() {
  for (const std::size_t granularity : {std::size_t{64} << 10, std::size_t{2} << 20}) {
    for (const std::size_t bytes : {granularity - 1, granularity, granularity + 1}) {
      CUdeviceptr address = 0, base = 0;
      std::size_t size = 0;
      say("allocate", cuMemAlloc(&address, bytes));
      say("range", cuMemGetAddressRange(&base, &size, address + bytes - 1), size);
      use(address, bytes, 1);
      say("free", cuMemFree(address));
    }
  }
}

struct Scenario {
  std::string_view name;
  void (*run)();
};
constexpr Scenario kScenarios[] = {
    {"pool_counters", pool_counters},
    {"pool_kinds", pool_kinds},
    {"frees_across", frees_across},
    {"second_context", second_context},
    {"streams_of_another_context", streams_of_another_context},
    {"reset", reset},
    {"from_threads", from_threads},
    {"devices", devices},
    {"a_graph_on_two_devices", a_graph_on_two_devices},
    {"kernels_on_two_devices", kernels_on_two_devices},
    {"room", room},
    {"mappings", mappings},
    {"sizes", sizes},
    {"values", values},
    {"copies_promised_to_wait", copies_promised_to_wait},
    {"without_a_context", without_a_context},
    {"outputs_left_out", outputs_left_out},
    {"odd_reservations", odd_reservations},
    {"host_ranges_half_registered", host_ranges_half_registered},
    {"locations_of_the_host", locations_of_the_host},
    {"batches_where_they_may_not_be", batches_where_they_may_not_be},
    {"ranges_of_many_pieces", ranges_of_many_pieces},
};

}  // namespace

int main(int argc, char** argv) {
  CUdevice device = 0;
  CUcontext context = nullptr;
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
      cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS ||
      cuCtxSetCurrent(context) != CUDA_SUCCESS) {
    return 2;
  }
  const std::string_view what = argc > 1 ? argv[1] : "";
  const auto* const scenario = std::find_if(std::begin(kScenarios), std::end(kScenarios),
                                            [what](const Scenario& each) { return each.name == what; });
  if (scenario == std::end(kScenarios)) return 2;
  scenario->run();
  return 0;
}
