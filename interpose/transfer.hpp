// What all copies and memsets share: making the access of them and cutting it into parts where the runtime
// asks for that. Called by copy.cpp, shaped_copy.cpp and memset.cpp. Thread rule: on the caller's stack.
// Failure rule: the driver's answers, or the runtime's.
#pragma once

#include <cuda.h>

#include <cstddef>

#include "interpose/spans.hpp"
#include "interpose/visit.hpp"

namespace tencache::doors {

// A part is `issue(offset, rows, destination, source)`, with 0 for the sides that are the program's own.
template <class Issue>
class Parts final : public runtime::PartIssuer {
 public:
  Parts(const Shape& shape, const Issue& issue) : shape_(shape), issue_(issue) {}

  [[nodiscard]] runtime::Rows rows_at(std::uint64_t offset) const noexcept override {
    return shape_.rows_at(offset);
  }
  CUresult issue(std::uint64_t offset, const runtime::Rows& rows, CUdeviceptr destination,
                 CUdeviceptr source) const noexcept override {
    return issue_(offset, rows, destination, source);
  }

 private:
  const Shape shape_;
  const Issue& issue_;
};

// When the call returns, as far as its name tells.
enum class Returns : bool { kWhenEnqueued, kWhenDone };

// One side of a linear copy, as the call's name says what it is.
enum class SideKind : std::uint8_t { kDevice, kHost, kUnified, kArray };

struct LinearSide {
  SideKind kind;
  CUdeviceptr address;
};

inline LinearSide device(CUdeviceptr address) { return {SideKind::kDevice, address}; }
inline LinearSide unified(CUdeviceptr address) { return {SideKind::kUnified, address}; }
inline LinearSide host(const void* address) {
  return {SideKind::kHost, reinterpret_cast<CUdeviceptr>(address)};
}
inline LinearSide array() { return {SideKind::kArray, 0}; }

struct LinearCopy {
  LinearSide destination;
  LinearSide source;
  std::size_t size;
  runtime::Stream stream;
  Returns returns;
};

// The host address of a copy's source if it is pageable memory, else null: what is pinned is read when the
// copy runs, not now.
const void* pageable_source(const LinearSide& source) noexcept;

// `issue(destination, source, size)` makes the driver's call, with host addresses as numbers and arrays as
// the distance from their side's first byte.
template <class Issue>
CUresult copy_linear(const Visit& visit, const LinearCopy& copy, const Issue& issue) {
  const auto call = [&] { return issue(copy.destination.address, copy.source.address, copy.size); };
  if (!visit) return call();
  const runtime::Range to{copy.destination.address, Bytes(copy.size)};
  const runtime::Range from{copy.source.address, Bytes(copy.size)};
  const auto issue_part = [&](std::uint64_t offset, const runtime::Rows& rows, CUdeviceptr destination,
                              CUdeviceptr source) {
    return issue(destination != 0 ? destination : to.base + offset, source != 0 ? source : from.base + offset,
                 rows.width);
  };
  const Parts parts({{copy.size, 1, 1}, {}, {}}, issue_part);
  const runtime::Arena arena = visit->arena();
  runtime::Access access{};
  access.kind = runtime::AccessKind::kCopy;
  access.synchronous = copy.returns == Returns::kWhenDone;
  access.stream = copy.stream;
  access.destination = if_ours(arena, to);
  access.source = if_ours(arena, from);
  access.destination_overwritten = access.destination.size != 0_B;
  access.host_source = access.source.size != 0_B ? nullptr : pageable_source(copy.source);
  access.host_source_size = access.host_source == nullptr ? Bytes() : Bytes(copy.size);
  access.parts = &parts;
  return visit.access(access, call);
}

}  // namespace tencache::doors
