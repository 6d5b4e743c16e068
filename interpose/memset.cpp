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

// `issue(address, elements, rows)` makes the call on some of it.
template <class Value, class Issue>
CUresult fill(runtime::Stream stream, const Fill& fill, const Issue& issue) {
  const Visit visit;
  const auto call = [&] { return issue(fill.dst, fill.width, fill.height); };
  if (!visit) return call();
  const Side side = side_of<Value>(fill);
  const auto issue_part = [&](std::uint64_t, const runtime::Rows& rows, CUdeviceptr to, CUdeviceptr) {
    return issue(to, rows.width / sizeof(Value), rows.count);
  };
  const Shape shape{{fill.width * sizeof(Value), fill.height, 1}, {fill.pitch, 0}, {}};
  const Parts parts(shape, issue_part);
  runtime::Access access = access_of(side, visit->arena(), stream);
  access.parts = shape.divisible() ? &parts : nullptr;
  return visit.access(access, call);
}

template <class Function, class Value>
CUresult fill_now(const Genuine<Function>& driver, CUdeviceptr dst, Value value, std::size_t count) {
  return fill<Value>(driver.stream(nullptr), {dst, 0, count, 1},
                     [&](CUdeviceptr to, std::size_t n, std::size_t) { return driver(to, value, n); });
}

template <class Function, class Value>
CUresult fill_async(const Genuine<Function>& driver, CUdeviceptr dst, Value value, std::size_t count,
                    CUstream stream) {
  return fill<Value>(
      driver.stream(stream), {dst, 0, count, 1},
      [&](CUdeviceptr to, std::size_t n, std::size_t) { return driver(to, value, n, stream); });
}

template <class Function, class Value>
CUresult fill_2d_now(const Genuine<Function>& driver, const Fill& whole, Value value) {
  return fill<Value>(driver.stream(nullptr), whole,
                     [&](CUdeviceptr to, std::size_t width, std::size_t height) {
                       return driver(to, whole.pitch, value, width, height);
                     });
}

template <class Function, class Value>
CUresult fill_2d_async(const Genuine<Function>& driver, const Fill& whole, Value value, CUstream stream) {
  return fill<Value>(driver.stream(stream), whole,
                     [&](CUdeviceptr to, std::size_t width, std::size_t height) {
                       return driver(to, whole.pitch, value, width, height, stream);
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
