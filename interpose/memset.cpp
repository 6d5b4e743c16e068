// The memsets: 8, 16 and 32 bits, linear and pitched, with and without a stream. All return when enqueued.
#include "interpose/handlers.gen.hpp"
#include "interpose/transfer.hpp"

namespace tencache::doors::handlers {

namespace {

struct Fill {
  CUdeviceptr dst;
  std::size_t pitch;  // bytes; 0: linear
  std::size_t width;  // elements
  std::size_t height;
};

template <class Value>
Side side_of(const Fill& fill) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(fill.width, sizeof(Value), &bytes)) return {};
  return span_of(fill.dst, fill.pitch, 0, {bytes, fill.height, 1});
}

runtime::Access access_of(const Side& side, const runtime::Arena& arena, runtime::Stream stream) {
  runtime::Access access{};
  access.kind = runtime::AccessKind::kMemset;
  access.stream = stream;
  access.destination = if_ours(arena, side.range);
  access.destination_overwritten = access.destination.size != 0_B && side.dense;
  return access;
}

// `issue(address, elements)` makes the call on some of it.
template <class Value, class Issue>
CUresult fill_linear(runtime::Stream stream, CUdeviceptr dst, std::size_t count, const Issue& issue) {
  const Visit visit;
  const auto call = [&] { return issue(dst, count); };
  if (!visit) return call();
  const auto issue_part = [&](CUdeviceptr to, CUdeviceptr, std::size_t bytes) {
    return issue(to, bytes / sizeof(Value));
  };
  const Side side = side_of<Value>({dst, 0, count, 1});
  const Parts parts(side.range, {}, issue_part);
  runtime::Access access = access_of(side, visit->arena(), stream);
  access.parts = &parts;
  return visit.access(access, call);
}

template <class Value, class Call>
CUresult fill_pitched(runtime::Stream stream, const Fill& fill, const Call& call) {
  const Visit visit;
  if (!visit) return call();
  return visit.access(access_of(side_of<Value>(fill), visit->arena(), stream), call);
}

template <class Function, class Value>
CUresult fill_now(const Genuine<Function>& driver, CUdeviceptr dst, Value value, std::size_t count) {
  return fill_linear<Value>(driver.stream(nullptr), dst, count,
                            [&](CUdeviceptr to, std::size_t n) { return driver(to, value, n); });
}

template <class Function, class Value>
CUresult fill_async(const Genuine<Function>& driver, CUdeviceptr dst, Value value, std::size_t count,
                    CUstream stream) {
  return fill_linear<Value>(driver.stream(stream), dst, count,
                            [&](CUdeviceptr to, std::size_t n) { return driver(to, value, n, stream); });
}

template <class Function, class Value>
CUresult fill_2d_now(const Genuine<Function>& driver, const Fill& fill, Value value) {
  return fill_pitched<Value>(driver.stream(nullptr), fill,
                             [&] { return driver(fill.dst, fill.pitch, value, fill.width, fill.height); });
}

template <class Function, class Value>
CUresult fill_2d_async(const Genuine<Function>& driver, const Fill& fill, Value value, CUstream stream) {
  return fill_pitched<Value>(driver.stream(stream), fill, [&] {
    return driver(fill.dst, fill.pitch, value, fill.width, fill.height, stream);
  });
}

}  // namespace

CUresult cuMemsetD8(const Genuine<decltype(&::cuMemsetD8_v2)>& driver, CUdeviceptr dst, unsigned char value,
                    std::size_t count) noexcept {
  return fill_now(driver, dst, value, count);
}

CUresult cuMemsetD16(const Genuine<decltype(&::cuMemsetD16_v2)>& driver, CUdeviceptr dst,
                     unsigned short value, std::size_t count) noexcept {
  return fill_now(driver, dst, value, count);
}

CUresult cuMemsetD32(const Genuine<decltype(&::cuMemsetD32_v2)>& driver, CUdeviceptr dst, unsigned value,
                     std::size_t count) noexcept {
  return fill_now(driver, dst, value, count);
}

CUresult cuMemsetD8Async(const Genuine<decltype(&::cuMemsetD8Async)>& driver, CUdeviceptr dst,
                         unsigned char value, std::size_t count, CUstream stream) noexcept {
  return fill_async(driver, dst, value, count, stream);
}

CUresult cuMemsetD16Async(const Genuine<decltype(&::cuMemsetD16Async)>& driver, CUdeviceptr dst,
                          unsigned short value, std::size_t count, CUstream stream) noexcept {
  return fill_async(driver, dst, value, count, stream);
}

CUresult cuMemsetD32Async(const Genuine<decltype(&::cuMemsetD32Async)>& driver, CUdeviceptr dst,
                          unsigned value, std::size_t count, CUstream stream) noexcept {
  return fill_async(driver, dst, value, count, stream);
}

CUresult cuMemsetD2D8(const Genuine<decltype(&::cuMemsetD2D8_v2)>& driver, CUdeviceptr dst, std::size_t pitch,
                      unsigned char value, std::size_t width, std::size_t height) noexcept {
  return fill_2d_now(driver, {dst, pitch, width, height}, value);
}

CUresult cuMemsetD2D16(const Genuine<decltype(&::cuMemsetD2D16_v2)>& driver, CUdeviceptr dst,
                       std::size_t pitch, unsigned short value, std::size_t width,
                       std::size_t height) noexcept {
  return fill_2d_now(driver, {dst, pitch, width, height}, value);
}

CUresult cuMemsetD2D32(const Genuine<decltype(&::cuMemsetD2D32_v2)>& driver, CUdeviceptr dst,
                       std::size_t pitch, unsigned value, std::size_t width, std::size_t height) noexcept {
  return fill_2d_now(driver, {dst, pitch, width, height}, value);
}

CUresult cuMemsetD2D8Async(const Genuine<decltype(&::cuMemsetD2D8Async)>& driver, CUdeviceptr dst,
                           std::size_t pitch, unsigned char value, std::size_t width, std::size_t height,
                           CUstream stream) noexcept {
  return fill_2d_async(driver, {dst, pitch, width, height}, value, stream);
}

CUresult cuMemsetD2D16Async(const Genuine<decltype(&::cuMemsetD2D16Async)>& driver, CUdeviceptr dst,
                            std::size_t pitch, unsigned short value, std::size_t width, std::size_t height,
                            CUstream stream) noexcept {
  return fill_2d_async(driver, {dst, pitch, width, height}, value, stream);
}

CUresult cuMemsetD2D32Async(const Genuine<decltype(&::cuMemsetD2D32Async)>& driver, CUdeviceptr dst,
                            std::size_t pitch, unsigned value, std::size_t width, std::size_t height,
                            CUstream stream) noexcept {
  return fill_2d_async(driver, {dst, pitch, width, height}, value, stream);
}

}  // namespace tencache::doors::handlers
