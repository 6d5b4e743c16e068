// Functions and kernels: attributes, parameters, occupancy.
#include <algorithm>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/device_attributes.hpp"
#include "tools/softgpu/driver/launch.hpp"

namespace softgpu {
// How many blocks a multiprocessor takes, by threads, blocks, registers and shared memory.
int most_resident_blocks(const KernelInfo& info, int block_size, std::size_t dynamic_shared) {
  const auto ask = [](CUdevice_attribute attribute) { return device_attribute(0, attribute); };
  const int warps = (block_size + 31) / 32;
  int blocks = std::min(ask(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
                        ask(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / (warps * 32));
  const int registers = std::max(1, static_cast<int>(info.registers)) * warps * 32;
  blocks = std::min(blocks, ask(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR) / registers);
  const std::size_t shared =
      info.static_shared_bytes + dynamic_shared +
      static_cast<std::size_t>(ask(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK));
  const auto total = static_cast<std::size_t>(ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
  return std::min(blocks, static_cast<int>(total / shared));
}
}  // namespace softgpu

namespace softgpu::api {
namespace {

// A function's facts without a context: a CUkernel's come from its library's program.
CUresult find_info(CUkernel handle, std::shared_ptr<Program>* program, const KernelInfo** info) {
  const auto kernel = Kernels::instance().find(handle);
  const auto library = kernel == nullptr ? nullptr : kernel->library.lock();
  if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *program = library->program;
  *info = &library->program->kernels()[kernel->index];
  return CUDA_SUCCESS;
}

CUresult attribute_of(const KernelInfo& info, int most_dynamic_shared, CUfunction_attribute attribute,
                      int* value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = static_cast<int>(info.max_threads);
      break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(info.static_shared_bytes);
      break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *value = static_cast<int>(info.constant_bytes);
      break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(info.local_bytes);
      break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = static_cast<int>(info.registers);
      break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      *value = static_cast<int>(info.target);
      break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = kComputeCapabilityMajor * 10 + kComputeCapabilityMinor;
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = most_dynamic_shared;
      break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = -1;
      break;
    default:
      if (attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
      *value = 0;
  }
  return CUDA_SUCCESS;
}

CUresult set_attribute(Function& function, CUfunction_attribute attribute, int value) {
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
    return value >= -1 && value <= 100 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_ERROR_INVALID_VALUE;
  const int most = device_attribute(0, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) -
                   static_cast<int>(function.info().static_shared_bytes);
  if (value < 0 || value > most) return CUDA_ERROR_INVALID_VALUE;
  function.most_dynamic_shared.store(value);
  return CUDA_SUCCESS;
}

CUresult parameter_of(const KernelInfo& info, std::size_t index, std::size_t* offset, std::size_t* size) {
  if (offset == nullptr || index >= info.parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = info.parameters[index].offset;
  if (size != nullptr) *size = info.parameters[index].size;
  return CUDA_SUCCESS;
}

CUresult potential_block_size(int* least_grid, int* best_block, const KernelInfo& info,
                              const std::function<std::size_t(int)>& dynamic_shared, int limit) {
  if (least_grid == nullptr || best_block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const int most = limit > 0 ? std::min<int>(limit, static_cast<int>(info.max_threads))
                             : static_cast<int>(info.max_threads);
  int best_threads = 0;
  for (int size = (most + 31) / 32 * 32; size > 0; size -= 32) {
    const int threads = std::min(size, most);
    const int blocks = most_resident_blocks(info, threads, dynamic_shared(threads));
    if (blocks * threads <= best_threads) continue;
    best_threads = blocks * threads;
    *best_block = threads;
    *least_grid = blocks * device_attribute(0, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  }
  return best_threads > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult cuFuncGetAttribute(int* pi, CUfunction_attribute attrib, CUfunction hfunc) {
  FunctionPtr function;
  SOFTGPU_TRY(find_function(hfunc, &function));
  if (pi == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return attribute_of(function->info(), function->most_dynamic_shared.load(), attrib, pi);
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
  FunctionPtr function;
  SOFTGPU_TRY(find_function(hfunc, &function));
  return set_attribute(*function, attrib, value);
}

CUresult cuFuncGetParamInfo(CUfunction func, std::size_t paramIndex, std::size_t* paramOffset,
                            std::size_t* paramSize) {
  FunctionPtr function;
  SOFTGPU_TRY(find_function(func, &function));
  return parameter_of(function->info(), paramIndex, paramOffset, paramSize);
}

CUresult cuFuncGetModule(CUmodule* hmod, CUfunction hfunc) {
  FunctionPtr function;
  SOFTGPU_TRY(find_function(hfunc, &function));
  if (hmod == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *hmod = function->module_handle;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char** name, CUfunction hfunc) {
  FunctionPtr function;
  SOFTGPU_TRY(find_function(hfunc, &function));
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = function->info().name.c_str();
  return CUDA_SUCCESS;
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction hfunc) {
  FunctionPtr function;
  SOFTGPU_TRY(find_function(hfunc, &function));
  if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction hfunc) {
  FunctionPtr function;
  return find_function(hfunc, &function);
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache) { return api::cuFuncLoad(hfunc); }
CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig) { return api::cuFuncLoad(hfunc); }

CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t paramIndex, std::size_t* paramOffset,
                              std::size_t* paramSize) {
  std::shared_ptr<Program> program;
  const KernelInfo* info = nullptr;
  SOFTGPU_TRY(find_info(kernel, &program, &info));
  return parameter_of(*info, paramIndex, paramOffset, paramSize);
}

CUresult cuKernelGetName(const char** name, CUkernel hfunc) {
  std::shared_ptr<Program> program;
  const KernelInfo* info = nullptr;
  SOFTGPU_TRY(find_info(hfunc, &program, &info));
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = info->name.c_str();
  return CUDA_SUCCESS;
}

CUresult cuKernelGetAttribute(int* pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice) {
  if (Kernels::instance().find(kernel) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return api::cuFuncGetAttribute(pi, attrib, reinterpret_cast<CUfunction>(kernel));
}

CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice) {
  if (Kernels::instance().find(kernel) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return api::cuFuncSetAttribute(reinterpret_cast<CUfunction>(kernel), attrib, val);
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache, CUdevice) {
  return Kernels::instance().find(kernel) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, CUfunction func, int blockSize,
                                                     std::size_t dynamicSMemSize) {
  FunctionPtr function;
  SOFTGPU_TRY(find_function(func, &function));
  if (numBlocks == nullptr || blockSize <= 0) return CUDA_ERROR_INVALID_VALUE;
  const bool fits = blockSize <= static_cast<int>(function->info().max_threads);
  *numBlocks = fits ? most_resident_blocks(function->info(), blockSize, dynamicSMemSize) : 0;
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, CUfunction func, int blockSize,
                                                              std::size_t dynamicSMemSize,
                                                              unsigned int flags) {
  if (flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) return CUDA_ERROR_INVALID_VALUE;
  return api::cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, func, blockSize, dynamicSMemSize);
}

CUresult cuOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, CUfunction func,
                                          CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                          std::size_t dynamicSMemSize, int blockSizeLimit) {
  FunctionPtr function;
  SOFTGPU_TRY(find_function(func, &function));
  const auto dynamic_shared = [&](int size) {
    return blockSizeToDynamicSMemSize != nullptr ? blockSizeToDynamicSMemSize(size) : dynamicSMemSize;
  };
  return potential_block_size(minGridSize, blockSize, function->info(), dynamic_shared, blockSizeLimit);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize, CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   std::size_t dynamicSMemSize, int blockSizeLimit,
                                                   unsigned int flags) {
  if (flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) return CUDA_ERROR_INVALID_VALUE;
  return api::cuOccupancyMaxPotentialBlockSize(minGridSize, blockSize, func, blockSizeToDynamicSMemSize,
                                               dynamicSMemSize, blockSizeLimit);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* dynamicSmemSize, CUfunction func, int numBlocks,
                                                 int blockSize) {
  FunctionPtr function;
  SOFTGPU_TRY(find_function(func, &function));
  if (dynamicSmemSize == nullptr || numBlocks <= 0 || blockSize <= 0) return CUDA_ERROR_INVALID_VALUE;
  const int each = device_attribute(0, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) / numBlocks -
                   device_attribute(0, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK) -
                   static_cast<int>(function->info().static_shared_bytes);
  *dynamicSmemSize = static_cast<std::size_t>(std::clamp(each, 0, function->most_dynamic_shared.load()));
  return CUDA_SUCCESS;
}

}  // namespace softgpu::api
