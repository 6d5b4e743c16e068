// The batches: copies, 3-D copies, decompressions. Where an address of ours is among them, a batch of linear
// copies goes to the driver one copy at a time, each let in as a copy of its own; of the others all they name
// comes to HBM first.
#include <algorithm>
#include <vector>

#include "interpose/handlers.gen.hpp"
#include "interpose/transfer.hpp"

namespace tencache::doors::handlers {

namespace {

struct Batch {
  CUdeviceptr* destinations;
  CUdeviceptr* sources;
  std::size_t* sizes;
  std::size_t count;
  CUmemcpyAttributes* attributes;
  std::size_t* first_of;  // the copy from which on each of the attributes holds
  std::size_t attribute_count;

  // What the driver refuses by itself is left to it.
  [[nodiscard]] bool is_readable() const {
    return destinations != nullptr && sources != nullptr && sizes != nullptr && attributes != nullptr &&
           first_of != nullptr && attribute_count > 0 && attribute_count <= count && first_of[0] == 0;
  }
  [[nodiscard]] bool touches(const runtime::Arena& arena) const {
    const auto ours = [&arena](CUdeviceptr address) { return address - arena.base < arena.size; };
    return std::any_of(destinations, destinations + count, ours) ||
           std::any_of(sources, sources + count, ours);
  }
  [[nodiscard]] CUmemcpyAttributes* attributes_of(std::size_t copy) const {
    return attributes + (std::upper_bound(first_of, first_of + attribute_count, copy) - first_of - 1);
  }
};

template <class Call>
CUresult tell_of(const Visit& visit, runtime::Stream stream, std::span<const CUdeviceptr> named,
                 const Call& call) {
  runtime::Access access{};
  access.kind = runtime::AccessKind::kOther;
  access.stream = stream;
  access.pointers = named;
  return visit.access(access, call);
}

// `issue(destination, source, size, attributes)` is a batch of one copy; `failed` may be null.
template <class Issue, class Call>
CUresult copy_batch(const Batch& batch, runtime::Stream stream, std::size_t* failed, const Issue& issue,
                    const Call& call) {
  const Visit visit;
  if (!visit) return call();
  if (!batch.is_readable() || !batch.touches(visit->arena())) return tell_of(visit, stream, {}, call);
  for (std::size_t i = 0; i < batch.count; ++i) {
    const CUresult result = copy_linear(visit,
                                        {unified(batch.destinations[i]), unified(batch.sources[i]),
                                         batch.sizes[i], stream, Returns::kWhenEnqueued},
                                        [&](CUdeviceptr to, CUdeviceptr from, std::size_t size) {
                                          return issue(to, from, size, batch.attributes_of(i));
                                        });
    if (result == CUDA_SUCCESS) continue;
    if (failed != nullptr) *failed = i;
    return result;
  }
  return CUDA_SUCCESS;
}

void add_if_ours(CUdeviceptr address, const runtime::Arena& arena, std::vector<CUdeviceptr>* named) {
  if (address - arena.base < arena.size) named->push_back(address);
}

void add_operand(const CUmemcpy3DOperand& operand, const runtime::Arena& arena,
                 std::vector<CUdeviceptr>* named) {
  if (operand.type == CU_MEMCPY_OPERAND_TYPE_POINTER) add_if_ours(operand.op.ptr.ptr, arena, named);
}

template <class Call>
CUresult copy_boxes(std::size_t count, const CUDA_MEMCPY3D_BATCH_OP* copies, runtime::Stream stream,
                    const Call& call) {
  const Visit visit;
  if (!visit || copies == nullptr) return call();
  std::vector<CUdeviceptr> named;
  for (std::size_t i = 0; i < count; ++i) {
    add_operand(copies[i].dst, visit->arena(), &named);
    add_operand(copies[i].src, visit->arena(), &named);
  }
  return tell_of(visit, stream, named, call);
}

CUdeviceptr number_of(const void* address) { return reinterpret_cast<CUdeviceptr>(address); }

}  // namespace

CUresult cuMemcpyBatchAsync(const Genuine<decltype(&::cuMemcpyBatchAsync)>& driver, CUdeviceptr* dsts,
                            CUdeviceptr* srcs, std::size_t* sizes, std::size_t count,
                            CUmemcpyAttributes* attributes, std::size_t* first_of,
                            std::size_t attribute_count, std::size_t* failed, CUstream stream) noexcept {
  const auto issue = [&](CUdeviceptr to, CUdeviceptr from, std::size_t size, CUmemcpyAttributes* its) {
    std::size_t first = 0;
    std::size_t unused = 0;
    return driver(&to, &from, &size, 1, its, &first, 1, &unused, stream);
  };
  return copy_batch({dsts, srcs, sizes, count, attributes, first_of, attribute_count}, driver.stream(stream),
                    failed, issue, [&] {
                      return driver(dsts, srcs, sizes, count, attributes, first_of, attribute_count, failed,
                                    stream);
                    });
}

CUresult cuMemcpyBatchAsync(const Genuine<decltype(&::cuMemcpyBatchAsync_v2)>& driver, CUdeviceptr* dsts,
                            CUdeviceptr* srcs, std::size_t* sizes, std::size_t count,
                            CUmemcpyAttributes* attributes, std::size_t* first_of,
                            std::size_t attribute_count, CUstream stream) noexcept {
  const auto issue = [&](CUdeviceptr to, CUdeviceptr from, std::size_t size, CUmemcpyAttributes* its) {
    std::size_t first = 0;
    return driver(&to, &from, &size, 1, its, &first, 1, stream);
  };
  return copy_batch(
      {dsts, srcs, sizes, count, attributes, first_of, attribute_count}, driver.stream(stream), nullptr,
      issue, [&] { return driver(dsts, srcs, sizes, count, attributes, first_of, attribute_count, stream); });
}

CUresult cuMemcpy3DBatchAsync(const Genuine<decltype(&::cuMemcpy3DBatchAsync)>& driver, std::size_t count,
                              CUDA_MEMCPY3D_BATCH_OP* copies, std::size_t* failed, unsigned long long flags,
                              CUstream stream) noexcept {
  return copy_boxes(count, copies, driver.stream(stream),
                    [&] { return driver(count, copies, failed, flags, stream); });
}

CUresult cuMemcpy3DBatchAsync(const Genuine<decltype(&::cuMemcpy3DBatchAsync_v2)>& driver, std::size_t count,
                              CUDA_MEMCPY3D_BATCH_OP* copies, unsigned long long flags,
                              CUstream stream) noexcept {
  return copy_boxes(count, copies, driver.stream(stream),
                    [&] { return driver(count, copies, flags, stream); });
}

CUresult cuMemBatchDecompressAsync(const Genuine<decltype(&::cuMemBatchDecompressAsync)>& driver,
                                   CUmemDecompressParams* params, std::size_t count, unsigned flags,
                                   std::size_t* failed, CUstream stream) noexcept {
  const Visit visit;
  const auto call = [&] { return driver(params, count, flags, failed, stream); };
  if (!visit || params == nullptr) return call();
  std::vector<CUdeviceptr> named;
  for (std::size_t i = 0; i < count; ++i) {
    for (const void* const address : {static_cast<const void*>(params[i].dst), params[i].src,
                                      static_cast<const void*>(params[i].dstActBytes)}) {
      add_if_ours(number_of(address), visit->arena(), &named);
    }
  }
  return tell_of(visit, driver.stream(stream), named, call);
}

}  // namespace tencache::doors::handlers
