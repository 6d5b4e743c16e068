// The runtime API as a program that nvcc built uses it, on softgpu: one test a feature, small and exact.
#include <cooperative_groups.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

namespace {

constexpr int kCount = 1000;
constexpr int kBlock = 128;
constexpr int kGrid = (kCount + kBlock - 1) / kBlock;

__device__ int device_value = 41;
__constant__ int constant_values[4];

struct Parameters {
  char kind;
  int* out;
  short offset;
  double factor;
};

__global__ void add_one(int* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += 1;
}

__global__ void from_struct(Parameters parameters) {
  parameters.out[threadIdx.x] =
      static_cast<int>(parameters.factor * threadIdx.x) + parameters.offset + parameters.kind;
}

__global__ void from_symbols(int* out) {
  out[threadIdx.x] = constant_values[threadIdx.x] + device_value;
  if (threadIdx.x == 0) device_value = 7;
}

__global__ void reverse(int* values) {
  extern __shared__ int shared[];
  shared[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

__global__ void shift_grid(int* out, const int* in) {
  const auto grid = cooperative_groups::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  const int count = static_cast<int>(grid.size());
  out[i] = in[i] + 1;
  grid.sync();
  const int next = out[(i + 1) % count];
  grid.sync();
  out[i] = next;
}

#define OK(call) ASSERT_EQ(call, cudaSuccess)

class Runtime : public testing::Test {
 protected:
  void SetUp() override {
    OK(cudaMalloc(&device_, kCount * sizeof(int)));
    std::iota(host_.begin(), host_.end(), 0);
    OK(cudaMemcpy(device_, host_.data(), bytes(), cudaMemcpyHostToDevice));
  }
  void TearDown() override { OK(cudaFree(device_)); }

  static size_t bytes() { return kCount * sizeof(int); }
  std::vector<int> result() {
    std::vector<int> values(kCount);
    EXPECT_EQ(cudaMemcpy(values.data(), device_, bytes(), cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }

  int* device_ = nullptr;
  std::vector<int> host_ = std::vector<int>(kCount);
};

TEST_F(Runtime, LaunchesAndCopies) {
  add_one<<<kGrid, kBlock>>>(device_, kCount);
  OK(cudaGetLastError());
  for (int& value : host_) ++value;
  EXPECT_EQ(result(), host_);
}

TEST_F(Runtime, PassesAStructByValue) {
  from_struct<<<1, 32>>>({'\1', device_, 2, 2.5});
  const std::vector<int> values = result();
  for (int i = 0; i < 32; ++i) EXPECT_EQ(values[i], static_cast<int>(2.5 * i) + 3);
}

TEST_F(Runtime, ReadsAndWritesSymbols) {
  const std::array<int, 4> constants{10, 20, 30, 40};
  OK(cudaMemcpyToSymbol(constant_values, constants.data(), sizeof(constants)));
  from_symbols<<<1, 4>>>(device_);
  const std::vector<int> values = result();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(values[i], constants[i] + 41);
  int value = 0;
  OK(cudaMemcpyFromSymbol(&value, device_value, sizeof(value)));
  EXPECT_EQ(value, 7);
  value = 41;
  OK(cudaMemcpyToSymbol(device_value, &value, sizeof(value)));
  void* address = nullptr;
  size_t size = 0;
  OK(cudaGetSymbolAddress(&address, constant_values));
  OK(cudaGetSymbolSize(&size, constant_values));
  EXPECT_NE(address, nullptr);
  EXPECT_EQ(size, sizeof(constants));
}

TEST_F(Runtime, HasDynamicSharedMemory) {
  reverse<<<1, 64, 64 * sizeof(int)>>>(device_);
  const std::vector<int> values = result();
  for (int i = 0; i < 64; ++i) EXPECT_EQ(values[i], 63 - i);
}

TEST_F(Runtime, LaunchesByFunctionPointerAndByConfiguration) {
  int count = kCount;
  void* arguments[] = {&device_, &count};
  OK(cudaLaunchKernel(reinterpret_cast<const void*>(add_one), dim3(kGrid), dim3(kBlock), arguments, 0,
                      nullptr));
  cudaLaunchConfig_t config{};
  config.gridDim = kGrid;
  config.blockDim = kBlock;
  OK(cudaLaunchKernelEx(&config, add_one, device_, count));
  for (int& value : host_) value += 2;
  EXPECT_EQ(result(), host_);
}

TEST_F(Runtime, LaunchesCooperatively) {
  int* out = nullptr;
  OK(cudaMalloc(&out, 128 * sizeof(int)));
  void* arguments[] = {&out, &device_};
  OK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(shift_grid), dim3(4), dim3(32), arguments, 0,
                                 nullptr));
  std::vector<int> values(128);
  OK(cudaMemcpy(values.data(), out, 128 * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 128; ++i) EXPECT_EQ(values[i], (i + 1) % 128 + 1);
  OK(cudaFree(out));
}

TEST_F(Runtime, KnowsItsFunctions) {
  cudaFuncAttributes attributes{};
  OK(cudaFuncGetAttributes(&attributes, add_one));
  EXPECT_GE(attributes.maxThreadsPerBlock, 256);
  EXPECT_EQ(attributes.ptxVersion, 75);
  int blocks = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, kBlock, 0));
  EXPECT_GE(blocks, 1);
  int smallest_grid = 0;
  int block = 0;
  OK(cudaOccupancyMaxPotentialBlockSize(&smallest_grid, &block, add_one, 0, 0));
  EXPECT_GE(block, 32);
}

TEST_F(Runtime, RefusesAConfigurationNoDeviceHas) {
  add_one<<<1, 5000>>>(device_, kCount);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(result(), host_);
}

TEST_F(Runtime, CopiesPitchedMemory) {
  constexpr size_t kWidth = 40;
  constexpr size_t kHeight = 9;
  char* pitched = nullptr;
  size_t pitch = 0;
  OK(cudaMallocPitch(&pitched, &pitch, kWidth, kHeight));
  EXPECT_GE(pitch, kWidth);
  OK(cudaMemset2D(pitched, pitch, 5, kWidth, kHeight));
  std::vector<char> in(kWidth / 2 * kHeight, 3);
  OK(cudaMemcpy2D(pitched, pitch, in.data(), kWidth / 2, kWidth / 2, kHeight, cudaMemcpyHostToDevice));
  std::vector<char> out(kWidth * kHeight);
  OK(cudaMemcpy2D(out.data(), kWidth, pitched, pitch, kWidth, kHeight, cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i % kWidth < kWidth / 2 ? 3 : 5);
  OK(cudaFree(pitched));
}

TEST_F(Runtime, CopiesBoxes) {
  const cudaExtent extent = make_cudaExtent(8, 4, 3);
  cudaPitchedPtr box{};
  OK(cudaMalloc3D(&box, extent));
  OK(cudaMemset3D(box, 1, extent));
  std::vector<char> in(8 * 4 * 3);
  std::iota(in.begin(), in.end(), 0);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(in.data(), 8, 8, 4);
  copy.dstPtr = box;
  copy.dstPos = make_cudaPos(4, 0, 1);
  copy.extent = make_cudaExtent(4, 4, 2);
  copy.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&copy));
  std::vector<char> out(in.size());
  cudaMemcpy3DParms back{};
  back.srcPtr = box;
  back.dstPtr = make_cudaPitchedPtr(out.data(), 8, 8, 4);
  back.extent = extent;
  back.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&back));
  for (int i = 0; i < 96; ++i) EXPECT_EQ(out[i], i >= 32 && i % 8 >= 4 ? in[i - 36] : 1) << i;
  OK(cudaFree(box.ptr));
}

TEST_F(Runtime, OrdersStreamsByEvents) {
  cudaStream_t streams[2];
  cudaEvent_t events[2];
  for (int i = 0; i < 2; ++i) {
    OK(cudaStreamCreate(&streams[i]));
    OK(cudaEventCreate(&events[i]));
  }
  OK(cudaEventRecord(events[0], streams[0]));
  add_one<<<kGrid, kBlock, 0, streams[0]>>>(device_, kCount);
  OK(cudaEventRecord(events[1], streams[0]));
  OK(cudaStreamWaitEvent(streams[1], events[1]));
  add_one<<<kGrid, kBlock, 0, streams[1]>>>(device_, kCount);
  OK(cudaStreamSynchronize(streams[1]));
  EXPECT_EQ(cudaEventQuery(events[1]), cudaSuccess);
  float milliseconds = -1;
  OK(cudaEventElapsedTime(&milliseconds, events[0], events[1]));
  EXPECT_GE(milliseconds, 0);
  for (int& value : host_) value += 2;
  EXPECT_EQ(result(), host_);
  for (int i = 0; i < 2; ++i) {
    OK(cudaStreamDestroy(streams[i]));
    OK(cudaEventDestroy(events[i]));
  }
}

TEST_F(Runtime, CallsHostFunctionsInOrder) {
  cudaStream_t stream = nullptr;
  OK(cudaStreamCreate(&stream));
  std::vector<int> seen;
  OK(cudaLaunchHostFunc(
      stream, [](void* data) { static_cast<std::vector<int>*>(data)->push_back(1); }, &seen));
  OK(cudaStreamAddCallback(
      stream,
      [](cudaStream_t, cudaError_t status, void* data) {
        static_cast<std::vector<int>*>(data)->push_back(status == cudaSuccess ? 2 : -1);
      },
      &seen, 0));
  OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(seen, (std::vector<int>{1, 2}));
  OK(cudaStreamDestroy(stream));
}

TEST_F(Runtime, HasPinnedAndMappedHostMemory) {
  int* pinned = nullptr;
  OK(cudaHostAlloc(&pinned, bytes(), cudaHostAllocMapped));
  std::copy(host_.begin(), host_.end(), pinned);
  int* mapped = nullptr;
  OK(cudaHostGetDevicePointer(&mapped, pinned, 0));
  add_one<<<kGrid, kBlock>>>(mapped, kCount);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < kCount; ++i) EXPECT_EQ(pinned[i], i + 1);
  cudaPointerAttributes attributes{};
  OK(cudaPointerGetAttributes(&attributes, pinned));
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  OK(cudaPointerGetAttributes(&attributes, device_));
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.devicePointer, device_);
  OK(cudaPointerGetAttributes(&attributes, host_.data()));
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  OK(cudaFreeHost(pinned));
}

TEST_F(Runtime, AllocatesInStreamOrder) {
  cudaStream_t stream = nullptr;
  OK(cudaStreamCreate(&stream));
  int* values = nullptr;
  OK(cudaMallocAsync(&values, bytes(), stream));
  OK(cudaMemcpyAsync(values, device_, bytes(), cudaMemcpyDeviceToDevice, stream));
  add_one<<<kGrid, kBlock, 0, stream>>>(values, kCount);
  OK(cudaMemcpyAsync(device_, values, bytes(), cudaMemcpyDeviceToDevice, stream));
  OK(cudaFreeAsync(values, stream));
  OK(cudaStreamSynchronize(stream));
  for (int& value : host_) ++value;
  EXPECT_EQ(result(), host_);
  OK(cudaStreamDestroy(stream));
}

TEST_F(Runtime, DescribesTheDevice) {
  cudaDeviceProp properties{};
  OK(cudaGetDeviceProperties(&properties, 0));
  EXPECT_NE(properties.name[0], '\0');
  EXPECT_EQ(properties.warpSize, 32);
  EXPECT_GE(properties.major * 10 + properties.minor, 75);
  size_t free = 0;
  size_t total = 0;
  OK(cudaMemGetInfo(&free, &total));
  EXPECT_EQ(total, properties.totalGlobalMem);
  EXPECT_LT(free, total);
  EXPECT_EQ(cudaFree(host_.data()), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST_F(Runtime, GivesTheDriversEntryPoints) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status{};
  OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 13000, cudaEnableDefault, &status));
  EXPECT_NE(function, nullptr);
  EXPECT_EQ(status, cudaDriverEntryPointSuccess);
  OK(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &function, 13000, cudaEnableDefault, &status));
  EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
}

__global__ void write_nowhere(int* address) { *address = 1; }

// In a process of its own: it breaks the context.
void touch_a_wild_address() {
  write_nowhere<<<1, 1>>>(reinterpret_cast<int*>(0x10));
  const bool reported = cudaDeviceSynchronize() == cudaErrorIllegalAddress;
  void* pointer = nullptr;
  const bool sticky = cudaMalloc(&pointer, 16) == cudaErrorIllegalAddress &&
                      cudaGetLastError() == cudaErrorIllegalAddress &&
                      cudaGetLastError() == cudaErrorIllegalAddress;
  _exit(reported && sticky ? 42 : 1);
}

TEST(RuntimeFault, IsStickyDeathTest) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(touch_a_wild_address(), testing::ExitedWithCode(42), "");
}

}  // namespace
