// The 1-D copies. A copy to host memory returns when it is done; the others return earlier.
#include "interpose/handlers.gen.hpp"
#include "interpose/transfer.hpp"

namespace tencache::doors::handlers {

namespace {

const void* host_address(CUdeviceptr address) { return reinterpret_cast<const void*>(address); }
void* writable_host_address(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace

CUresult cuMemcpy(const Genuine<decltype(&::cuMemcpy)>& driver, CUdeviceptr dst, CUdeviceptr src,
                  std::size_t size) noexcept {
  const Visit visit;
  return copy_linear(visit,
                     {unified(dst), unified(src), size, driver.stream(nullptr), Returns::kWhenEnqueued},
                     [&](CUdeviceptr to, CUdeviceptr from, std::size_t n) { return driver(to, from, n); });
}

CUresult cuMemcpyAsync(const Genuine<decltype(&::cuMemcpyAsync)>& driver, CUdeviceptr dst, CUdeviceptr src,
                       std::size_t size, CUstream stream) noexcept {
  const Visit visit;
  return copy_linear(
      visit, {unified(dst), unified(src), size, driver.stream(stream), Returns::kWhenEnqueued},
      [&](CUdeviceptr to, CUdeviceptr from, std::size_t n) { return driver(to, from, n, stream); });
}

CUresult cuMemcpyPeer(const Genuine<decltype(&::cuMemcpyPeer)>& driver, CUdeviceptr dst,
                      CUcontext dst_context, CUdeviceptr src, CUcontext src_context,
                      std::size_t size) noexcept {
  const Visit visit;
  return copy_linear(visit, {device(dst), device(src), size, driver.stream(nullptr), Returns::kWhenEnqueued},
                     [&](CUdeviceptr to, CUdeviceptr from, std::size_t n) {
                       return driver(to, dst_context, from, src_context, n);
                     });
}

CUresult cuMemcpyPeerAsync(const Genuine<decltype(&::cuMemcpyPeerAsync)>& driver, CUdeviceptr dst,
                           CUcontext dst_context, CUdeviceptr src, CUcontext src_context, std::size_t size,
                           CUstream stream) noexcept {
  const Visit visit;
  return copy_linear(visit, {device(dst), device(src), size, driver.stream(stream), Returns::kWhenEnqueued},
                     [&](CUdeviceptr to, CUdeviceptr from, std::size_t n) {
                       return driver(to, dst_context, from, src_context, n, stream);
                     });
}

CUresult cuMemcpyHtoD(const Genuine<decltype(&::cuMemcpyHtoD_v2)>& driver, CUdeviceptr dst, const void* src,
                      std::size_t size) noexcept {
  const Visit visit;
  return copy_linear(
      visit, {device(dst), host(src), size, driver.stream(nullptr), Returns::kWhenEnqueued},
      [&](CUdeviceptr to, CUdeviceptr from, std::size_t n) { return driver(to, host_address(from), n); });
}

CUresult cuMemcpyHtoDAsync(const Genuine<decltype(&::cuMemcpyHtoDAsync_v2)>& driver, CUdeviceptr dst,
                           const void* src, std::size_t size, CUstream stream) noexcept {
  const Visit visit;
  return copy_linear(visit, {device(dst), host(src), size, driver.stream(stream), Returns::kWhenEnqueued},
                     [&](CUdeviceptr to, CUdeviceptr from, std::size_t n) {
                       return driver(to, host_address(from), n, stream);
                     });
}

CUresult cuMemcpyDtoH(const Genuine<decltype(&::cuMemcpyDtoH_v2)>& driver, void* dst, CUdeviceptr src,
                      std::size_t size) noexcept {
  const Visit visit;
  return copy_linear(visit, {host(dst), device(src), size, driver.stream(nullptr), Returns::kWhenDone},
                     [&](CUdeviceptr to, CUdeviceptr from, std::size_t n) {
                       return driver(writable_host_address(to), from, n);
                     });
}

CUresult cuMemcpyDtoHAsync(const Genuine<decltype(&::cuMemcpyDtoHAsync_v2)>& driver, void* dst,
                           CUdeviceptr src, std::size_t size, CUstream stream) noexcept {
  const Visit visit;
  return copy_linear(visit, {host(dst), device(src), size, driver.stream(stream), Returns::kWhenEnqueued},
                     [&](CUdeviceptr to, CUdeviceptr from, std::size_t n) {
                       return driver(writable_host_address(to), from, n, stream);
                     });
}

CUresult cuMemcpyDtoD(const Genuine<decltype(&::cuMemcpyDtoD_v2)>& driver, CUdeviceptr dst, CUdeviceptr src,
                      std::size_t size) noexcept {
  const Visit visit;
  return copy_linear(visit, {device(dst), device(src), size, driver.stream(nullptr), Returns::kWhenEnqueued},
                     [&](CUdeviceptr to, CUdeviceptr from, std::size_t n) { return driver(to, from, n); });
}

CUresult cuMemcpyDtoDAsync(const Genuine<decltype(&::cuMemcpyDtoDAsync_v2)>& driver, CUdeviceptr dst,
                           CUdeviceptr src, std::size_t size, CUstream stream) noexcept {
  const Visit visit;
  return copy_linear(
      visit, {device(dst), device(src), size, driver.stream(stream), Returns::kWhenEnqueued},
      [&](CUdeviceptr to, CUdeviceptr from, std::size_t n) { return driver(to, from, n, stream); });
}

CUresult cuMemcpyDtoA(const Genuine<decltype(&::cuMemcpyDtoA_v2)>& driver, CUarray dst,
                      std::size_t dst_offset, CUdeviceptr src, std::size_t size) noexcept {
  const Visit visit;
  return copy_linear(
      visit, {array(), device(src), size, driver.stream(nullptr), Returns::kWhenEnqueued},
      [&](CUdeviceptr to, CUdeviceptr from, std::size_t n) { return driver(dst, dst_offset + to, from, n); });
}

CUresult cuMemcpyAtoD(const Genuine<decltype(&::cuMemcpyAtoD_v2)>& driver, CUdeviceptr dst, CUarray src,
                      std::size_t src_offset, std::size_t size) noexcept {
  const Visit visit;
  return copy_linear(
      visit, {device(dst), array(), size, driver.stream(nullptr), Returns::kWhenEnqueued},
      [&](CUdeviceptr to, CUdeviceptr from, std::size_t n) { return driver(to, src, src_offset + from, n); });
}

}  // namespace tencache::doors::handlers
