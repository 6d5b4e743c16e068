// What a program should not do. Prints the driver's code for each; knows nothing of tencache.
//   bad_input codes          calls with bad addresses and sizes, one line each
//   bad_input wild_kernel    a kernel stores to an address never handed out
//   bad_input freed_kernel   a kernel stores to memory that has been freed; `small` as second word: a small
//   one
#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <string_view>

namespace {

constexpr CUdeviceptr kWild = 0x123456000;
constexpr std::size_t kBytes = 1 << 20;
constexpr std::size_t kHuge = std::size_t{1} << 46;

constexpr const char* kPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry store(.param .u64 target)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [target];
  mov.u32 %r1, 7;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

void say(const char* what, CUresult result) { std::printf("%s %d\n", what, static_cast<int>(result)); }

CUdeviceptr allocate(std::size_t bytes) {
  CUdeviceptr address = 0;
  if (cuMemAlloc(&address, bytes) != CUDA_SUCCESS) std::puts("cannot allocate");
  return address;
}

// An address as seen by everything that takes one.
void use(const char* what, CUdeviceptr address, CUdeviceptr good, CUstream stream) {
  static unsigned char host[4096];
  std::printf("%s:\n", what);
  say("HtoD", cuMemcpyHtoD(address, host, sizeof host));
  say("DtoH", cuMemcpyDtoH(host, address, sizeof host));
  say("DtoD to", cuMemcpyDtoD(address, good, sizeof host));
  say("DtoD from", cuMemcpyDtoD(good, address, sizeof host));
  say("HtoDAsync", cuMemcpyHtoDAsync(address, host, sizeof host, stream));
  say("DtoHAsync", cuMemcpyDtoHAsync(host, address, sizeof host, stream));
  say("DtoDAsync", cuMemcpyDtoDAsync(good, address, sizeof host, stream));
  say("D8", cuMemsetD8(address, 1, 100));
  say("D16", cuMemsetD16(address, 1, 100));
  say("D32", cuMemsetD32(address, 1, 100));
  say("D8Async", cuMemsetD8Async(address, 1, 100, stream));
  say("D2D32", cuMemsetD2D32(address, 512, 1, 16, 4));
  CUDA_MEMCPY2D plane{};
  plane.srcMemoryType = plane.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  plane.srcDevice = address;
  plane.dstDevice = good;
  plane.srcPitch = plane.dstPitch = 512;
  plane.WidthInBytes = 64;
  plane.Height = 4;
  say("2D", cuMemcpy2D(&plane));
  say("2DAsync", cuMemcpy2DAsync(&plane, stream));
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.srcDevice = good;
  box.dstDevice = address;
  box.srcPitch = box.dstPitch = 512;
  box.srcHeight = box.dstHeight = 4;
  box.WidthInBytes = 64;
  box.Height = box.Depth = 4;
  say("3D", cuMemcpy3D(&box));
  CUdeviceptr base = 0;
  std::size_t size = 0;
  say("address range", cuMemGetAddressRange(&base, &size, address));
  unsigned type = 0;
  say("attribute", cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
}

void sizes(CUdeviceptr good, CUstream stream) {
  std::puts("sizes:");
  CUdeviceptr address = 0;
  std::size_t pitch = 0;
  unsigned char host[16]{};
  say("allocate nothing", cuMemAlloc(&address, 0));
  say("allocate huge", cuMemAlloc(&address, kHuge));
  say("allocate most", cuMemAlloc(&address, ~std::size_t{0}));
  say("allocate to null", cuMemAlloc(nullptr, 16));
  say("async nothing", cuMemAllocAsync(&address, 0, stream));
  say("async huge", cuMemAllocAsync(&address, kHuge, stream));
  say("pitch without width", cuMemAllocPitch(&address, &pitch, 0, 4, 4));
  say("pitch without height", cuMemAllocPitch(&address, &pitch, 4, 0, 4));
  say("pitch of elements of 3", cuMemAllocPitch(&address, &pitch, 4, 4, 3));
  say("pitch huge", cuMemAllocPitch(&address, &pitch, kHuge, 1 << 20, 4));
  say("copy nothing", cuMemcpyHtoD(good, host, 0));
  say("copy nothing to nowhere", cuMemcpyHtoD(kWild, host, 0));
  say("copy nothing from null", cuMemcpyDtoD(good, 0, 0));
  say("fill nothing", cuMemsetD8(good, 1, 0));
  say("fill nothing nowhere", cuMemsetD8(kWild, 1, 0));
  say("fill huge", cuMemsetD8(good, 1, kHuge));
  say("copy huge", cuMemcpyDtoD(good, good, kHuge));
  say("fill most", cuMemsetD8(good, 1, ~std::size_t{0}));
  say("fill odd address", cuMemsetD32(good + 1, 1, 4));
  say("fill rows wider than the pitch", cuMemsetD2D8(good, 8, 1, 16, 4));
}

void frees(CUdeviceptr good, CUstream stream) {
  std::puts("frees:");
  void* pinned = nullptr;
  cuMemHostAlloc(&pinned, 4096, 0);
  int on_stack = 0;
  const CUdeviceptr small = allocate(100);
  const CUdeviceptr large = allocate(kBytes);
  say("null", cuMemFree(0));
  say("interior", cuMemFree(good + 256));
  say("interior of a small one", cuMemFree(small + 4));
  say("wild", cuMemFree(kWild));
  say("pinned", cuMemFree(reinterpret_cast<CUdeviceptr>(pinned)));
  say("host", cuMemFree(reinterpret_cast<CUdeviceptr>(&on_stack)));
  say("small", cuMemFree(small));
  say("small again", cuMemFree(small));
  say("large", cuMemFree(large));
  say("large again", cuMemFree(large));
  say("async null", cuMemFreeAsync(0, stream));
  say("async interior", cuMemFreeAsync(good + 256, stream));
  say("async wild", cuMemFreeAsync(kWild, stream));
  say("async freed", cuMemFreeAsync(large, stream));
  CUdeviceptr pooled = 0;
  say("pooled", cuMemAllocAsync(&pooled, 4096, stream));
  say("pooled freed", cuMemFreeAsync(pooled, stream));
  say("pooled freed again", cuMemFreeAsync(pooled, stream));
  cuMemFreeHost(pinned);
}

int codes() {
  CUstream stream = nullptr;
  cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  const CUdeviceptr good = allocate(kBytes);
  const CUdeviceptr freed = allocate(3 * kBytes);
  cuMemFree(freed);
  use("good", good, allocate(kBytes), stream);
  use("wild", kWild, good, stream);
  use("null", 0, good, stream);
  use("freed", freed, good, stream);
  use("far behind the end", good + (std::uint64_t{1} << 43), good, stream);
  sizes(good, stream);
  frees(good, stream);
  say("still well", cuCtxSynchronize());
  return 0;
}

int kernel_at(CUdeviceptr address) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  say("module", cuModuleLoadData(&module, kPtx));
  say("function", cuModuleGetFunction(&function, module, "store"));
  void* parameters[] = {&address};
  say("launch", cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  say("synchronize", cuCtxSynchronize());
  const CUdeviceptr later = 0;
  CUdeviceptr made = later;
  say("allocate", cuMemAlloc(&made, 4096));
  say("launch again", cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  say("synchronize again", cuCtxSynchronize());
  return 0;
}

int freed_kernel(std::size_t bytes) {
  const CUdeviceptr freed = allocate(bytes);
  cuMemsetD8(freed, 1, bytes);
  cuMemFree(freed);
  return kernel_at(freed);
}

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
  if (what == "codes") return codes();
  if (what == "wild_kernel") return kernel_at(kWild);
  if (what == "freed_kernel") return freed_kernel(argc > 2 ? 100 : kBytes);
  std::fputs("usage: bad_input codes|wild_kernel|freed_kernel [small]\n", stderr);
  return 2;
}
