// The runtime stand-in over a driver that writes down what it is asked.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/softgpu/cudart_stub_driver.hpp"

// NOLINTBEGIN(readability-identifier-naming): the names are nvcc's
extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* host_function, char* device_function, const char* name,
                            int thread_limit, uint3*, uint3*, dim3*, dim3*, int*);
void __cudaRegisterVar(void** handle, char* host_variable, char* device_address, const char* name,
                       int external, size_t size, int constant, int global);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, CUstream_st* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* host_function);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared_bytes, cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                    size_t shared_bytes, cudaStream_t stream);
cudaError_t cudaMemcpyAsync_ptsz(void* to, const void* from, size_t count, cudaMemcpyKind kind,
                                 cudaStream_t stream);
cudaError_t cudaMemcpy_ptds(void* to, const void* from, size_t count, cudaMemcpyKind kind);
}
// NOLINTEND(readability-identifier-naming)

namespace {

using Lines = std::vector<std::string>;

struct FatBinaryWrapper {
  unsigned int magic = 0x466243b1;
  unsigned int version = 1;
  const void* data = "image";
  void* list = nullptr;
};

char host_kernel;
char host_variable;

class Cudart : public testing::Test {
 protected:
  void SetUp() override {
    cudaFree(nullptr);  // the first call loads the driver and makes a context current
    cudaGetLastError();
    stub().calls.clear();
    stub().failing.clear();
  }

  static StubDriver& stub() { return *stub_driver(); }

  // A registered binary with one kernel and one variable.
  struct Program {
    Program() : handle(__cudaRegisterFatBinary(&wrapper)) {
      __cudaRegisterFunction(handle, &host_kernel, nullptr, "kernel_name", -1, nullptr, nullptr, nullptr,
                             nullptr, nullptr);
      __cudaRegisterVar(handle, &host_variable, nullptr, "variable_name", 0, 16, 0, 0);
    }
    ~Program() { __cudaUnregisterFatBinary(handle); }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    FatBinaryWrapper wrapper;
    void** handle;
  };
};

int count(const Lines& lines, const std::string& line) {
  return static_cast<int>(std::count(lines.begin(), lines.end(), line));
}

TEST_F(Cudart, AsksOnceForEachEntryPointAndTwiceForThoseOnAStream) {
  EXPECT_EQ(count(stub().asked, "cuMemAlloc 0"), 1);
  EXPECT_EQ(count(stub().asked, "cuMemAlloc 2"), 0);
  EXPECT_EQ(count(stub().asked, "cuLaunchKernel 0"), 1);
  EXPECT_EQ(count(stub().asked, "cuLaunchKernel 2"), 1);
  EXPECT_EQ(count(stub().asked, "cuMemcpyHtoD 0"), 1);
  EXPECT_EQ(count(stub().asked, "cuMemcpyHtoD 2"), 1);
}

TEST_F(Cudart, SuffixedFunctionsUseThePerThreadStream) {
  EXPECT_EQ(cudaMemcpy(reinterpret_cast<void*>(64), nullptr, 8, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy_ptds(reinterpret_cast<void*>(64), nullptr, 8, cudaMemcpyHostToDevice), cudaSuccess);
  auto* const stream = reinterpret_cast<cudaStream_t>(5);
  EXPECT_EQ(cudaMemcpyAsync(nullptr, nullptr, 8, cudaMemcpyHostToDevice, stream), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync_ptsz(nullptr, nullptr, 8, cudaMemcpyHostToDevice, stream), cudaSuccess);
  EXPECT_EQ(stub().calls, (Lines{"cuMemcpyHtoD 0 to 64 8", "cuMemcpyHtoD 2 to 64 8",
                                 "cuMemcpyHtoDAsync 0 stream 5 8", "cuMemcpyHtoDAsync 2 stream 5 8"}));
}

TEST_F(Cudart, AskingForNothingGivesNull) {
  void* pointer = &host_kernel;
  EXPECT_EQ(cudaMalloc(&pointer, 0), cudaSuccess);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(stub().calls, Lines{});
  EXPECT_EQ(cudaMalloc(&pointer, 24), cudaSuccess);
  EXPECT_EQ(pointer, reinterpret_cast<void*>(0x10000));
  EXPECT_EQ(stub().calls, Lines{"cuMemAlloc 24"});
}

TEST_F(Cudart, AnErrorIsRememberedUntilAsked) {
  stub().failing["cuMemAlloc"] = CUDA_ERROR_OUT_OF_MEMORY;
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 24), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Cudart, AnInvalidDeviceIsRefusedAndTheOldOneStays) {
  EXPECT_EQ(cudaSetDevice(7), cudaErrorInvalidDevice);
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(Cudart, ABinaryIsLoadedAtTheFirstLaunchAndOnce) {
  const Program program;
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(__cudaGetKernel(&kernel, &host_kernel), cudaSuccess);
  EXPECT_EQ(stub().calls, Lines{});
  EXPECT_EQ(__cudaLaunchKernel(kernel, 3, 64, nullptr, 16, nullptr), cudaSuccess);
  EXPECT_EQ(__cudaLaunchKernel_ptsz(kernel, 3, 64, nullptr, 16, nullptr), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(&host_kernel, 3, 64, nullptr, 16, nullptr), cudaSuccess);
  EXPECT_EQ(stub().calls, (Lines{"cuLibraryLoadData image", "cuLibraryGetKernel kernel_name",
                                 "cuLaunchKernel 0 stream 0 function 768 3x64+16",
                                 "cuLaunchKernel 2 stream 0 function 768 3x64+16",
                                 "cuLaunchKernel 0 stream 0 function 768 3x64+16"}));
}

TEST_F(Cudart, AFailedLoadIsTriedAgain) {
  const Program program;
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(__cudaGetKernel(&kernel, &host_kernel), cudaSuccess);
  stub().failing["cuLibraryLoadData"] = CUDA_ERROR_OUT_OF_MEMORY;
  EXPECT_EQ(__cudaLaunchKernel(kernel, 1, 1, nullptr, 0, nullptr), cudaErrorMemoryAllocation);
  stub().failing.clear();
  EXPECT_EQ(__cudaLaunchKernel(kernel, 1, 1, nullptr, 0, nullptr), cudaSuccess);
}

TEST_F(Cudart, AnUnknownKernelIsAnInvalidDeviceFunction) {
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(__cudaGetKernel(&kernel, &host_kernel), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(__cudaLaunchKernel(kernel, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
}

TEST_F(Cudart, CallConfigurationsNest) {
  __cudaPushCallConfiguration(1, 2, 3, nullptr);
  __cudaPushCallConfiguration(4, 5, 6, nullptr);
  dim3 grid;
  dim3 block;
  size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream), cudaSuccess);
  EXPECT_EQ(grid.x, 4U);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream), cudaSuccess);
  EXPECT_EQ(block.x, 2U);
  EXPECT_EQ(shared_bytes, 3U);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream), cudaErrorMissingConfiguration);
}

TEST_F(Cudart, ACopyToASymbolStaysInside) {
  const Program program;
  EXPECT_EQ(cudaMemcpyToSymbol(&host_variable, nullptr, 12, 4, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(stub().calls.back(), "cuMemcpyHtoD 0 to 28676 12");
  EXPECT_EQ(cudaMemcpyToSymbol(&host_variable, nullptr, 13, 4, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(&host_kernel, nullptr, 1, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol);
}

TEST_F(Cudart, AMemsetOfPaddedSlicesIsOneCallASlice) {
  const cudaPitchedPtr padded{reinterpret_cast<void*>(0x1000), 64, 48, 3};
  EXPECT_EQ(cudaMemset3D(padded, 0, {48, 2, 2}), cudaSuccess);
  EXPECT_EQ(cudaMemset3D(padded, 0, {48, 3, 2}), cudaSuccess);
  EXPECT_EQ(stub().calls, (Lines{"cuMemsetD2D8 0 to 4096 64 48x2", "cuMemsetD2D8 0 to 4288 64 48x2",
                                 "cuMemsetD2D8 0 to 4096 64 48x6"}));
}

TEST_F(Cudart, AThreeDimensionalCopyIsTranslated) {
  cudaMemcpy3DParms copy{};
  copy.srcPos = {4, 1, 0};
  copy.extent = {8, 2, 3};
  copy.kind = cudaMemcpyHostToDevice;
  EXPECT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
  EXPECT_EQ(stub().calls, Lines{"cuMemcpy3D 0 types 1-2 8x2x3 from 4,1"});
}

TEST_F(Cudart, WhatTheDriverLacksIsRefused) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaMemcpy(nullptr, nullptr, 8, cudaMemcpyDeviceToHost), cudaErrorNotSupported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "softgpu: the driver has no cuMemcpyDtoH\n");
}

TEST_F(Cudart, WhatTheRuntimeLacksIsRefused) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaMallocArray(nullptr, nullptr, 1, 1, 0), cudaErrorNotSupported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "softgpu: cudaMallocArray is not supported\n");
}

TEST_F(Cudart, ErrorsHaveNames) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

// Last: what breaks the context stays broken for the rest of the process.
TEST_F(Cudart, LastABrokenContextStaysSo) {
  stub().failing["cuCtxSynchronize"] = CUDA_ERROR_ILLEGAL_ADDRESS;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
}

}  // namespace
