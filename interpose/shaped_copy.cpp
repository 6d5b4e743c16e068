// The 2-D and 3-D copies, taken as the range from the first byte touched to the last.
#include "interpose/handlers.gen.hpp"
#include "interpose/transfer.hpp"

namespace tencache::doors::handlers {

namespace {

template <class Copy, class Call>
CUresult copy_shaped(const Visit& visit, const Copy* copy, runtime::Stream stream, Returns returns,
                     const Call& call) {
  if (!visit || copy == nullptr) return call();
  const ShapedCopy spans = spans_of(*copy);
  const runtime::Arena arena = visit->arena();
  runtime::Access access{};
  access.kind = runtime::AccessKind::kCopy;
  access.synchronous = returns == Returns::kWhenDone && copy->dstMemoryType == CU_MEMORYTYPE_HOST;
  access.stream = stream;
  access.destination = if_ours(arena, spans.destination.range);
  access.source = if_ours(arena, spans.source.range);
  access.destination_overwritten = access.destination.size != 0_B && spans.destination.dense;
  return visit.access(access, call);
}

template <class Function, class Copy>
CUresult copy_now(const Genuine<Function>& driver, const Copy* copy) {
  const Visit visit;
  return copy_shaped(visit, copy, driver.stream(nullptr), Returns::kWhenDone, [&] { return driver(copy); });
}

template <class Function, class Copy>
CUresult copy_async(const Genuine<Function>& driver, const Copy* copy, CUstream stream) {
  const Visit visit;
  return copy_shaped(visit, copy, driver.stream(stream), Returns::kWhenEnqueued,
                     [&] { return driver(copy, stream); });
}

}  // namespace

CUresult cuMemcpy2D(const Genuine<decltype(&::cuMemcpy2D_v2)>& driver, const CUDA_MEMCPY2D* copy) noexcept {
  return copy_now(driver, copy);
}

CUresult cuMemcpy2DUnaligned(const Genuine<decltype(&::cuMemcpy2DUnaligned_v2)>& driver,
                             const CUDA_MEMCPY2D* copy) noexcept {
  return copy_now(driver, copy);
}

CUresult cuMemcpy2DAsync(const Genuine<decltype(&::cuMemcpy2DAsync_v2)>& driver, const CUDA_MEMCPY2D* copy,
                         CUstream stream) noexcept {
  return copy_async(driver, copy, stream);
}

CUresult cuMemcpy3D(const Genuine<decltype(&::cuMemcpy3D_v2)>& driver, const CUDA_MEMCPY3D* copy) noexcept {
  return copy_now(driver, copy);
}

CUresult cuMemcpy3DAsync(const Genuine<decltype(&::cuMemcpy3DAsync_v2)>& driver, const CUDA_MEMCPY3D* copy,
                         CUstream stream) noexcept {
  return copy_async(driver, copy, stream);
}

CUresult cuMemcpy3DPeer(const Genuine<decltype(&::cuMemcpy3DPeer)>& driver,
                        const CUDA_MEMCPY3D_PEER* copy) noexcept {
  return copy_now(driver, copy);
}

CUresult cuMemcpy3DPeerAsync(const Genuine<decltype(&::cuMemcpy3DPeerAsync)>& driver,
                             const CUDA_MEMCPY3D_PEER* copy, CUstream stream) noexcept {
  return copy_async(driver, copy, stream);
}

}  // namespace tencache::doors::handlers
