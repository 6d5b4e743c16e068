// Modules, symbols, libraries, kernels' attributes, and what the driver says of device and pointers.
#include <array>
#include <string>
#include <vector>

#include "tools/torture_programs/operations.hpp"

extern "C" const char torture_kernels_ptx[];

namespace torture {

void Operations::settle(Executor& x) {
  cuCtxSynchronize();
  x.all_completed();
  x.flush_readbacks();
}

void Operations::fill_buffer(Executor& x, CUstream stream, std::size_t buffer, std::uint32_t salt) {
  Buffer& b = x.buffers_[buffer];
  std::uint32_t count = b.count();
  void* parameters[] = {&b.base, &count, &salt};
  cuLaunchKernel(x.kernels_.fill, 3, 1, 1, 128, 1, 1, 0, stream, parameters, nullptr);
}

// The kernel adds what the symbol holds.
void Operations::add_symbol(Executor& x, const Operation& o, CUfunction function, const char* name,
                            CUmodule module) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  CUdeviceptr symbol = 0;
  std::size_t size = 0;
  CUresult result = cuModuleGetGlobal(&symbol, &size, module, name);
  x.line(o, result, size);
  std::vector<std::uint32_t> words(size / 4, o.operands[1]);
  settle(x);
  x.line(o, cuMemcpyHtoD(symbol, words.data(), size));
  cuCtxSynchronize();
  Buffer& b = x.buffers_[buffer];
  std::uint32_t count = b.count();
  void* parameters[] = {&b.base, &count};
  x.order(0, {}, {buffer});
  x.line(o, cuLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, CU_STREAM_LEGACY, parameters, nullptr));
  settle(x);
  x.line(o, cuMemcpyDtoH(words.data(), symbol, size), [&] { return words.front(); });
}

void Operations::kDeviceSymbol(Executor& x, const Operation& o) {
  add_symbol(x, o, x.kernels_.add_device_symbol, "device_symbol", x.kernels_.module);
}

void Operations::kConstantSymbol(Executor& x, const Operation& o) {
  add_symbol(x, o, x.kernels_.add_constant_symbol, "constant_symbol", x.kernels_.module);
}

void Operations::kModuleAgain(Executor& x, const Operation& o) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  x.line(o, cuModuleLoadData(&module, torture_kernels_ptx));
  x.line(o, cuModuleGetFunction(&function, module, "add_device_symbol"));
  add_symbol(x, o, function, "device_symbol", module);
  x.line(o, cuModuleUnload(module));
}

void Operations::kLibraryKernel(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  x.line(o, cuLibraryLoadData(&library, torture_kernels_ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  x.line(o, cuLibraryGetKernel(&kernel, library, "fill"));
  x.line(o, cuKernelGetFunction(&function, kernel));
  Buffer& b = x.buffers_[buffer];
  std::uint32_t count = b.count(), salt = o.operands[1];
  void* parameters[] = {&b.base, &count, &salt};
  const std::size_t stream = x.stream_of(o.operands[2]);
  x.order(stream, {}, {buffer});
  const auto launched = o.operands[3] % 2 == 0 ? function : reinterpret_cast<CUfunction>(kernel);
  x.line(o, cuLaunchKernel(launched, 2, 1, 1, 64, 1, 1, 0, x.streams_[stream], parameters, nullptr));
  settle(x);
  x.line(o, cuLibraryUnload(library));
}

void Operations::kCooperative(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  Buffer& b = x.buffers_[buffer];
  std::uint32_t count = b.count(), salt = o.operands[1];
  void* parameters[] = {&b.base, &count, &salt};
  const std::size_t stream = x.stream_of(o.operands[2]);
  x.order(stream, {}, {buffer});
  x.line(o, cuLaunchCooperativeKernel(x.kernels_.fill, 2, 1, 1, 64, 1, 1, 0, x.streams_[stream], parameters));
}

void Operations::kLaunchRefused(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  Buffer& b = x.buffers_[buffer];
  std::uint32_t count = b.count(), salt = 0;
  void* parameters[] = {&b.base, &count, &salt};
  x.line(o, cuLaunchKernel(x.kernels_.fill, 0, 1, 1, 64, 1, 1, 0, CU_STREAM_LEGACY, parameters, nullptr));
  x.line(o, cuLaunchKernel(x.kernels_.fill, 1, 1, 1, 4096, 1, 1, 0, CU_STREAM_LEGACY, parameters, nullptr));
}

// A kernel that reads the host's pinned memory where it lies.
void Operations::kPinnedOperand(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  Buffer& b = x.buffers_[buffer];
  std::uint32_t counts[] = {b.count(), 64}, salt = o.operands[1];
  auto* words = reinterpret_cast<std::uint32_t*>(x.pinned(counts[1] * 4));
  for (std::uint32_t i = 0; i < counts[1]; ++i) words[i] = i * salt;
  CUdeviceptr pinned = 0;
  x.line(o, cuMemHostGetDevicePointer(&pinned, words, 0));
  const std::size_t stream = x.stream_of(o.operands[2]);
  x.order(stream, {}, {buffer});
  void* parameters[] = {&b.base, &counts[0], &pinned, &counts[1], &pinned, &counts[1], &salt};
  x.line(o, x.launch(x.kernels_.mix, stream, counts[0], parameters));
}

void Operations::kFunctionAttributes(Executor& x, const Operation& o) {
  for (const CUfunction_attribute attribute :
       {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
        CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES}) {
    int value = -1;
    const CUresult result = cuFuncGetAttribute(&value, attribute, x.kernels_.block_sums);
    x.line(o, result, static_cast<std::uint64_t>(value));
  }
  std::size_t offset = 0, size = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const CUresult result = cuFuncGetParamInfo(x.kernels_.fill, i, &offset, &size);
    x.line(o, result, offset << 8 | size);
  }
}

void Operations::kOccupancy(Executor& x, const Operation& o) {
  int blocks = 0;
  const int threads = 32 << (o.operands[0] % 5);
  const CUresult result = cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, x.kernels_.mix, threads, 0);
  x.line(o, result, static_cast<std::uint64_t>(blocks));
}

void Operations::kDeviceAttributes(Executor& x, const Operation& o) {
  const auto attribute = static_cast<CUdevice_attribute>(1 + o.operands[0] % 90);
  int value = 0;
  const CUresult result = cuDeviceGetAttribute(&value, attribute, 0);
  x.line(o, result, static_cast<std::uint64_t>(value));
  std::size_t total = 0;
  x.line(o, cuDeviceTotalMem(&total, 0), [&] { return total; });
}

void Operations::kMemoryInfo(Executor& x, const Operation& o) {
  std::size_t free_bytes = 0, total = 0;
  const CUresult result = cuMemGetInfo(&free_bytes, &total);
  x.line(o, result, free_bytes <= total ? 1 : 0);
}

void Operations::kPointerAttributesAtOnce(Executor& x, const Operation& o) {
  const std::size_t buffer = x.data_buffer(o.operands[0]);
  if (buffer == kNone) return;
  const Buffer& b = x.buffers_[buffer];
  CUdeviceptr start = 0;
  std::size_t size = 0;
  unsigned type = 0, managed = 2;
  std::array attributes{CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
  void* data[] = {&start, &size, &type, &managed};
  const CUresult result = cuPointerGetAttributes(static_cast<unsigned>(attributes.size()), attributes.data(),
                                                 data, b.base + o.operands[1] % b.bytes);
  x.line(o, result, (b.base - start) ^ (size << 16) ^ (type << 8) ^ managed);
}

void Operations::kErrorNames(Executor& x, const Operation& o) {
  const char *name = "", *text = "";
  CUresult result = cuGetErrorName(static_cast<CUresult>(o.operands[0] % 1000), &name);
  x.line(o, result, name == nullptr ? 0 : hash_bytes(name, std::string(name).size()));
  result = cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text);
  x.line(o, result, hash_bytes(text, std::string(text).size()));
}

}  // namespace torture
