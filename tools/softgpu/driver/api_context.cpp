// Contexts: primary, made by the program, current, limits.
#include <algorithm>

#include "softgpu_api.gen.hpp"
#include "tools/softgpu/driver/capture.hpp"
#include "tools/softgpu/driver/context.hpp"

namespace softgpu::api {
namespace {

constexpr unsigned kFlagsMask = CU_CTX_FLAGS_MASK;
constexpr unsigned kApiVersion = 13000;

struct PrimaryContext {
  CUcontext handle = nullptr;
  unsigned references = 0;
  unsigned flags = 0;
};
std::mutex primary_mutex;
std::map<int, PrimaryContext>& primary_contexts() {
  static auto* const contexts = new std::map<int, PrimaryContext>;
  return *contexts;
}

CUresult check_device(CUdevice device) {
  SOFTGPU_TRY(check_initialised());
  return device >= 0 && static_cast<std::size_t>(device) < machine().devices.size()
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_DEVICE;
}

CUcontext handle_of(const ContextPtr& context) { return reinterpret_cast<CUcontext>(context.get()); }

CUresult create_and_push(CUcontext* pctx, unsigned flags, CUdevice dev) {
  SOFTGPU_TRY(check_device(dev));
  if (pctx == nullptr || (flags & ~kFlagsMask) != 0) return CUDA_ERROR_INVALID_VALUE;
  ContextPtr context;
  SOFTGPU_TRY(create_context(dev, flags, false, &context));
  *pctx = handle_of(context);
  context_stack().push_back(*pctx);
  return CUDA_SUCCESS;
}

CUresult synchronise(const ContextPtr& context) {
  SOFTGPU_TRY(refuse_in_capture());
  machine().scheduler.wait_group(*context->group);
  std::fflush(stdout);
  return fate_of(*context->fate);
}

CUresult find_context(CUcontext handle, ContextPtr* context) {
  if (handle == nullptr) return current_context(context);
  SOFTGPU_TRY(check_initialised());
  *context = Contexts::instance().find(handle);
  return *context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : fate_of(*(*context)->fate);
}

}  // namespace

CUresult cuDevicePrimaryCtxRetain(CUcontext* pctx, CUdevice dev) {
  SOFTGPU_TRY(check_device(dev));
  if (pctx == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(primary_mutex);
  PrimaryContext& primary = primary_contexts()[dev];
  if (primary.handle == nullptr) {
    ContextPtr context;
    SOFTGPU_TRY(create_context(dev, primary.flags, true, &context));
    primary.handle = handle_of(context);
  }
  ++primary.references;
  *pctx = primary.handle;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev) {
  SOFTGPU_TRY(check_device(dev));
  const std::lock_guard lock(primary_mutex);
  PrimaryContext& primary = primary_contexts()[dev];
  if (primary.references == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (--primary.references > 0) return CUDA_SUCCESS;
  destroy_context(primary.handle);
  primary = {};
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev) { return cuDevicePrimaryCtxRelease_v2(dev); }

// References stay: the next retain makes the context anew.
CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev) {
  SOFTGPU_TRY(check_device(dev));
  const std::lock_guard lock(primary_mutex);
  PrimaryContext& primary = primary_contexts()[dev];
  if (primary.handle != nullptr) destroy_context(primary.handle);
  primary = {};
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice dev) { return cuDevicePrimaryCtxReset_v2(dev); }

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int* flags, int* active) {
  SOFTGPU_TRY(check_device(dev));
  if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(primary_mutex);
  const PrimaryContext& primary = primary_contexts()[dev];
  *active = primary.handle != nullptr ? 1 : 0;
  *flags = primary.flags;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags) {
  SOFTGPU_TRY(check_device(dev));
  if ((flags & ~kFlagsMask) != 0) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(primary_mutex);
  PrimaryContext& primary = primary_contexts()[dev];
  primary.flags = flags;
  if (const ContextPtr context = Contexts::instance().find(primary.handle)) context->flags.store(flags);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags) {
  return cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

CUresult cuCtxCreate_v2(CUcontext* pctx, unsigned int flags, CUdevice dev) {
  return create_and_push(pctx, flags, dev);
}

CUresult cuCtxCreate_v3(CUcontext* pctx, CUexecAffinityParam*, int numParams, unsigned int flags,
                        CUdevice dev) {
  return numParams != 0 ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : create_and_push(pctx, flags, dev);
}

CUresult cuCtxCreate_v4(CUcontext* pctx, CUctxCreateParams* ctxCreateParams, unsigned int flags,
                        CUdevice dev) {
  const bool plain = ctxCreateParams == nullptr ||
                     (ctxCreateParams->numExecAffinityParams == 0 && ctxCreateParams->cigParams == nullptr);
  return plain ? create_and_push(pctx, flags, dev) : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuCtxDestroy_v2(CUcontext ctx) {
  SOFTGPU_TRY(check_initialised());
  const ContextPtr context = Contexts::instance().find(ctx);
  if (context == nullptr || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
  destroy_context(ctx);
  auto& stack = context_stack();
  if (!stack.empty() && stack.back() == ctx) stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx) {
  SOFTGPU_TRY(check_initialised());
  if (Contexts::instance().find(ctx) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  context_stack().push_back(ctx);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext* pctx) {
  SOFTGPU_TRY(check_initialised());
  auto& stack = context_stack();
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (pctx != nullptr) *pctx = stack.back();
  stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx) {
  SOFTGPU_TRY(check_initialised());
  if (ctx != nullptr && Contexts::instance().find(ctx) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  auto& stack = context_stack();
  if (!stack.empty()) stack.pop_back();
  if (ctx != nullptr) stack.push_back(ctx);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* pctx) {
  SOFTGPU_TRY(check_initialised());
  if (pctx == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto& stack = context_stack();
  *pctx = stack.empty() ? nullptr : stack.back();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  ContextPtr context;
  SOFTGPU_TRY(current_context_even_failed(&context));
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *device = context->device.ordinal;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext ctx) {
  ContextPtr context;
  SOFTGPU_TRY(find_context(ctx, &context));
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *device = context->device.ordinal;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned int* flags) {
  ContextPtr context;
  SOFTGPU_TRY(current_context(&context));
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = context->flags.load();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned int flags) {
  ContextPtr context;
  SOFTGPU_TRY(current_context(&context));
  if ((flags & ~kFlagsMask) != 0) return CUDA_ERROR_INVALID_VALUE;
  context->flags.store(flags);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long* ctxId) {
  ContextPtr context;
  SOFTGPU_TRY(find_context(ctx, &context));
  if (ctxId == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *ctxId = context->id;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int* version) {
  ContextPtr context;
  SOFTGPU_TRY(find_context(ctx, &context));
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = kApiVersion;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  ContextPtr context;
  SOFTGPU_TRY(current_context(&context));
  return synchronise(context);
}

CUresult cuCtxSynchronize_v2(CUcontext ctx) {
  ContextPtr context;
  SOFTGPU_TRY(find_context(ctx, &context));
  return synchronise(context);
}

CUresult cuCtxGetLimit(std::size_t* pvalue, CUlimit limit) {
  ContextPtr context;
  SOFTGPU_TRY(current_context(&context));
  if (pvalue == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(context->mutex);
  const auto found = context->limits.find(limit);
  if (found == context->limits.end()) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *pvalue = found->second;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  ContextPtr context;
  SOFTGPU_TRY(current_context(&context));
  const std::lock_guard lock(context->mutex);
  const auto found = context->limits.find(limit);
  if (found == context->limits.end()) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  found->second = value;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* pconfig) {
  ContextPtr context;
  SOFTGPU_TRY(current_context(&context));
  if (pconfig == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *pconfig = CU_FUNC_CACHE_PREFER_NONE;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache) {
  ContextPtr context;
  return current_context(&context);
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* pConfig) {
  ContextPtr context;
  SOFTGPU_TRY(current_context(&context));
  if (pConfig == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *pConfig = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig) {
  ContextPtr context;
  return current_context(&context);
}

CUresult cuCtxGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
  ContextPtr context;
  SOFTGPU_TRY(current_context(&context));
  if (leastPriority != nullptr) *leastPriority = 0;
  if (greatestPriority != nullptr) *greatestPriority = -5;
  return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache() {
  ContextPtr context;
  return current_context(&context);
}

}  // namespace softgpu::api
