// The 2-D and 3-D copies, taken as the range from the first byte touched to the last, and by rows where that
// cannot be let in whole.
#include "interpose/handlers.gen.hpp"
#include "interpose/transfer.hpp"

namespace tencache::doors::handlers {

namespace {

// `issue(copy)` makes the driver's call.
template <class Copy, class Issue>
CUresult copy_shaped(const Visit& visit, const Copy* copy, runtime::Stream stream, Returns returns,
                     const Issue& issue) {
  const auto call = [&] { return issue(copy); };
  if (!visit || copy == nullptr) return call();
  const Shape shape = shape_of(*copy);
  const auto issue_part = [&](std::uint64_t offset, const runtime::Rows& rows, CUdeviceptr destination,
                              CUdeviceptr source) {
    const Copy part = part_of(*copy, rows, {shape.corner_at(offset), destination, source});
    return issue(&part);
  };
  const Parts parts(shape, issue_part);
  const ShapedCopy spans = spans_of(*copy);
  const runtime::Arena arena = visit->arena();
  runtime::Access access{};
  access.kind = runtime::AccessKind::kCopy;
  access.synchronous = returns == Returns::kWhenDone && copy->dstMemoryType == CU_MEMORYTYPE_HOST;
  access.stream = stream;
  access.destination = if_ours(arena, spans.destination.range);
  access.source = if_ours(arena, spans.source.range);
  access.destination_overwritten = access.destination.size != 0_B && spans.destination.dense;
  access.parts = shape.divisible() ? &parts : nullptr;
  return visit.access(access, call);
}

template <class Function, class Copy>
CUresult copy_now(const Genuine<Function>& driver, const Copy* copy) {
  const Visit visit;
  return copy_shaped(visit, copy, driver.stream(nullptr), Returns::kWhenDone,
                     [&](const Copy* some) { return driver(some); });
}

template <class Function, class Copy>
CUresult copy_async(const Genuine<Function>& driver, const Copy* copy, CUstream stream) {
  const Visit visit;
  return copy_shaped(visit, copy, driver.stream(stream), Returns::kWhenEnqueued,
                     [&](const Copy* some) { return driver(some, stream); });
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
