// Waits for values in memory and writes of them, alone and in batches. The memory is watched from outside the
// program's order, so it is frozen; where that cannot be had, each is let in as a copy of its few bytes.
#include "interpose/handlers.gen.hpp"
#include "interpose/transfer.hpp"

namespace tencache::doors::handlers {

namespace {

enum class Direction : bool { kWait, kWrite };

struct Value {
  Direction direction;
  CUdeviceptr address;
  std::size_t size;
};

// `issue(address)` makes the driver's call.
template <class Issue>
CUresult operate(const Visit& visit, const Value& value, runtime::Stream stream, const Issue& issue) {
  const auto call = [&] { return issue(value.address); };
  if (!visit) return call();
  const auto issue_part = [&](std::uint64_t, const runtime::Rows&, CUdeviceptr to, CUdeviceptr from) {
    return issue(to != 0 ? to : from);
  };
  const Parts parts({{value.size, 1, 1}, {}, {}}, issue_part);
  const runtime::Range range = if_ours(visit->arena(), {value.address, Bytes(value.size)});
  if (range.size != 0_B) visit->freeze(value.address);
  runtime::Access access{};
  const bool writes = value.direction == Direction::kWrite;
  access.kind = writes ? runtime::AccessKind::kMemset : runtime::AccessKind::kStreamWait;
  access.stream = stream;
  (writes ? access.destination : access.source) = range;
  if (range.size != 0_B) access.parts = &parts;
  return visit.access(access, call);
}

template <class Function, class Number>
CUresult wait_value(const Genuine<Function>& driver, CUstream stream, CUdeviceptr address, Number value,
                    unsigned flags) {
  const Visit visit;
  return operate(visit, {Direction::kWait, address, sizeof(Number)}, driver.stream(stream),
                 [&](CUdeviceptr at) { return driver(stream, at, value, flags); });
}

template <class Function, class Number>
CUresult write_value(const Genuine<Function>& driver, CUstream stream, CUdeviceptr address, Number value,
                     unsigned flags) {
  const Visit visit;
  return operate(visit, {Direction::kWrite, address, sizeof(Number)}, driver.stream(stream),
                 [&](CUdeviceptr at) { return driver(stream, at, value, flags); });
}

// What one operation of a batch reads or writes; size 0: no value in memory.
Value value_of(const CUstreamBatchMemOpParams& operation) {
  switch (operation.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      return {Direction::kWait, operation.waitValue.address, 4};
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return {Direction::kWait, operation.waitValue.address, 8};
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return {Direction::kWrite, operation.writeValue.address, 4};
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return {Direction::kWrite, operation.writeValue.address, 8};
    default:
      return {Direction::kWait, 0, 0};
  }
}

CUstreamBatchMemOpParams at(CUstreamBatchMemOpParams operation, const Value& value, CUdeviceptr address) {
  if (value.size == 0) return operation;
  if (value.direction == Direction::kWait) operation.waitValue.address = address;
  if (value.direction == Direction::kWrite) operation.writeValue.address = address;
  return operation;
}

bool touches(const CUstreamBatchMemOpParams* operations, unsigned count, const runtime::Arena& arena) {
  for (unsigned i = 0; i < count; ++i) {
    const Value value = value_of(operations[i]);
    if (value.size != 0 && value.address - arena.base < arena.size) return true;
  }
  return false;
}

}  // namespace

CUresult cuStreamWaitValue32(const Genuine<decltype(&::cuStreamWaitValue32)>& driver, CUstream stream,
                             CUdeviceptr address, cuuint32_t value, unsigned flags) noexcept {
  return wait_value(driver, stream, address, value, flags);
}

CUresult cuStreamWaitValue64(const Genuine<decltype(&::cuStreamWaitValue64)>& driver, CUstream stream,
                             CUdeviceptr address, cuuint64_t value, unsigned flags) noexcept {
  return wait_value(driver, stream, address, value, flags);
}

CUresult cuStreamWriteValue32(const Genuine<decltype(&::cuStreamWriteValue32)>& driver, CUstream stream,
                              CUdeviceptr address, cuuint32_t value, unsigned flags) noexcept {
  return write_value(driver, stream, address, value, flags);
}

CUresult cuStreamWriteValue64(const Genuine<decltype(&::cuStreamWriteValue64)>& driver, CUstream stream,
                              CUdeviceptr address, cuuint64_t value, unsigned flags) noexcept {
  return write_value(driver, stream, address, value, flags);
}

// The operations of a batch happen in the order they have in it, so that one at a time is the same.
CUresult cuStreamBatchMemOp(const Genuine<decltype(&::cuStreamBatchMemOp)>& driver, CUstream stream,
                            unsigned count, CUstreamBatchMemOpParams* operations, unsigned flags) noexcept {
  const Visit visit;
  const runtime::Stream its = driver.stream(stream);
  if (!visit || operations == nullptr || !touches(operations, count, visit->arena())) {
    return operate(visit, {Direction::kWait, 0, 0}, its,
                   [&](CUdeviceptr) { return driver(stream, count, operations, flags); });
  }
  for (unsigned i = 0; i < count; ++i) {
    const Value value = value_of(operations[i]);
    const CUresult result = operate(visit, value, its, [&](CUdeviceptr address) {
      CUstreamBatchMemOpParams one = at(operations[i], value, address);
      return driver(stream, 1, &one, flags);
    });
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

}  // namespace tencache::doors::handlers
