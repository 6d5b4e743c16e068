// What all copies and memsets share: making the access of them and cutting it into parts where the runtime
// asks for that. Called by copy.cpp, shaped_copy.cpp and memset.cpp. Thread rule: on the caller's stack.
// Failure rule: the driver's answers, or the runtime's.
#pragma once

#include <cuda.h>

#include <cstddef>

#include "interpose/spans.hpp"
#include "interpose/visit.hpp"

namespace tencache::doors {

// A part is `issue(destination, source, offset, size)` with the sides that are ours replaced.
template <class Issue>
class Parts final : public runtime::PartIssuer {
 public:
  Parts(const runtime::Range& destination, const runtime::Range& source, const Issue& issue)
      : destination_(destination), source_(source), issue_(issue) {}

  CUresult issue(std::uint64_t offset, Bytes size, CUdeviceptr destination,
                 CUdeviceptr source) const noexcept override {
    return issue_(destination != 0 ? destination : destination_.base + offset,
                  source != 0 ? source : source_.base + offset, size.count());
  }

 private:
  const runtime::Range destination_;
  const runtime::Range source_;
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

// `issue(destination, source, size)` makes the driver's call, with host addresses as numbers.
template <class Issue>
CUresult copy_linear(const Visit& visit, const LinearCopy& copy, const Issue& issue) {
  const auto call = [&] { return issue(copy.destination.address, copy.source.address, copy.size); };
  if (!visit) return call();
  const runtime::Range to{copy.destination.address, Bytes(copy.size)};
  const runtime::Range from{copy.source.address, Bytes(copy.size)};
  const Parts parts(to, from, issue);
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
  const bool whole = copy.destination.kind != SideKind::kArray && copy.source.kind != SideKind::kArray;
  access.parts = whole ? &parts : nullptr;
  return visit.access(access, call);
}

}  // namespace tencache::doors
