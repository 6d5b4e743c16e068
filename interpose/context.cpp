// Contexts and modules: what ends or is reset, and what a context's synchronisation tells us.
#include "interpose/handlers.gen.hpp"
#include "interpose/kernels.hpp"
#include "interpose/process.hpp"
#include "interpose/visit.hpp"

namespace tencache::doors::handlers {

namespace {

template <class Handle>
CUresult unload(const Genuine<CUresult (*)(Handle)>& driver, Handle handle) {
  const Visit visit;
  forget_kernels();
  const CUresult result = driver(handle);
  forget_kernels();
  return result;
}

bool is_inactive(CUdevice device) {
  unsigned flags = 0;
  int active = 1;
  const CUresult result = genuine_driver().cuDevicePrimaryCtxGetState(device, &flags, &active);
  return result == CUDA_SUCCESS && active == 0;
}

// A call that may end the primary context; `is_gone` says, after one that succeeded, whether it has.
template <class Driver, class IsGone>
CUresult end_primary(const Driver& driver, CUdevice device, IsGone is_gone) {
  const Visit visit;
  if (visit) visit->primary_context_may_go(device);
  const CUresult result = driver(device);
  const bool gone = result == CUDA_SUCCESS && is_gone();
  if (visit && gone) visit->primary_context_is_gone(device);
  if (visit && !gone) visit->primary_context_stays(device);
  forget_kernels();
  return result;
}

}  // namespace

CUresult cuCtxSynchronize(const Genuine<decltype(&::cuCtxSynchronize)>& driver) noexcept {
  const Visit visit;
  const CUresult result = driver();
  if (visit && result == CUDA_SUCCESS) visit->context_synchronized();
  if (visit && result != CUDA_SUCCESS) visit->synchronization_failed(result);
  return result;
}

CUresult cuCtxSynchronize(const Genuine<decltype(&::cuCtxSynchronize_v2)>& driver,
                          CUcontext context) noexcept {
  const Visit visit;
  const CUresult result = driver(context);
  if (!visit || result != CUDA_SUCCESS) return result;
  CUcontext current = nullptr;
  if (context != nullptr && genuine_driver().cuCtxGetCurrent(&current) != CUDA_SUCCESS) return result;
  if (context == current || context == nullptr) visit->context_synchronized();
  return result;
}

CUresult cuCtxDestroy(const Genuine<decltype(&::cuCtxDestroy_v2)>& driver, CUcontext context) noexcept {
  const Visit visit;
  if (visit) visit->context_about_to_be_destroyed(context);
  forget_kernels();
  const CUresult result = driver(context);
  forget_kernels();
  return result;
}

CUresult cuDevicePrimaryCtxRelease(const Genuine<decltype(&::cuDevicePrimaryCtxRelease_v2)>& driver,
                                   CUdevice device) noexcept {
  return end_primary(driver, device, [device] { return is_inactive(device); });
}

CUresult cuDevicePrimaryCtxReset(const Genuine<decltype(&::cuDevicePrimaryCtxReset_v2)>& driver,
                                 CUdevice device) noexcept {
  return end_primary(driver, device, [] { return true; });
}

// Mapped memory is its own device's alone, so that no device can reach another's: what the driver says where
// there is no link between them.
CUresult cuDeviceCanAccessPeer(const Genuine<decltype(&::cuDeviceCanAccessPeer)>& driver, int* can,
                               CUdevice device, CUdevice peer) noexcept {
  const Visit visit;
  const CUresult result = driver(can, device, peer);
  if (visit && result == CUDA_SUCCESS) *can = 0;
  return result;
}

CUresult cuDeviceGetP2PAttribute(const Genuine<decltype(&::cuDeviceGetP2PAttribute)>& driver, int* value,
                                 CUdevice_P2PAttribute attribute, CUdevice source,
                                 CUdevice destination) noexcept {
  const Visit visit;
  const CUresult result = driver(value, attribute, source, destination);
  if (visit && result == CUDA_SUCCESS) *value = 0;
  return result;
}

CUresult cuCtxEnablePeerAccess(const Genuine<decltype(&::cuCtxEnablePeerAccess)>& driver, CUcontext peer,
                               unsigned flags) noexcept {
  const Visit visit;
  return visit ? CUDA_ERROR_PEER_ACCESS_UNSUPPORTED : driver(peer, flags);
}

CUresult cuModuleUnload(const Genuine<decltype(&::cuModuleUnload)>& driver, CUmodule module) noexcept {
  return unload(driver, module);
}

CUresult cuLibraryUnload(const Genuine<decltype(&::cuLibraryUnload)>& driver, CUlibrary library) noexcept {
  return unload(driver, library);
}

CUresult cuCtxSetFlags(const Genuine<decltype(&::cuCtxSetFlags)>& driver, unsigned flags) noexcept {
  const Visit visit;
  return driver(visit ? flags | visit->kept_context_flags() : flags);
}

CUresult cuDevicePrimaryCtxSetFlags(const Genuine<decltype(&::cuDevicePrimaryCtxSetFlags_v2)>& driver,
                                    CUdevice device, unsigned flags) noexcept {
  const Visit visit;
  return driver(device, visit ? flags | visit->kept_context_flags() : flags);
}

}  // namespace tencache::doors::handlers
