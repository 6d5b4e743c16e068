#include "src/runtime/parts.hpp"

#include <limits>

#include "src/runtime/runtime_impl.hpp"

namespace tencache::runtime {

namespace {

constexpr Bytes kNoLimit(std::numeric_limits<std::uint64_t>::max());

Range cut(const Range& whole, std::uint64_t offset, Bytes span) {
  return whole.size == Bytes() ? Range{} : Range{whole.base + offset, span};
}

}  // namespace

// A copy that was let in before all of it could come to HBM: the driver is given the blocks' own addresses,
// which it judges rightly wherever they lie.
CUresult RuntimeImpl::issue_at_aliases(ManagedDevice& device, const Access& access) noexcept {
  const auto alias_of = [&device](const Range& whole, std::uint64_t offset) {
    return whole.size == Bytes() ? vmm::Admission::Alias{0, kNoLimit}
                                 : device.memory->alias(whole.base + offset);
  };
  std::uint64_t offset = 0;
  for (Rows all = access.parts->rows_at(0); all.count > 0; all = access.parts->rows_at(offset)) {
    const vmm::Admission::Alias to = alias_of(access.destination, all.destination);
    const vmm::Admission::Alias from = alias_of(access.source, all.source);
    const Rows rows = all.within(to.size, from.size);
    if (rows.size() == Bytes()) return CUDA_ERROR_INVALID_VALUE;  // freed meanwhile
    const CUresult issued = access.parts->issue(offset, rows, to.address, from.address);
    if (issued != CUDA_SUCCESS) return issued;
    offset += rows.size().count();
  }
  return CUDA_SUCCESS;
}

// A copy larger than HBM: pieces that end where an extent ends on either side, each let in by itself.
CUresult RuntimeImpl::issue_in_parts(ManagedDevice& device, const Access& access) noexcept {
  const std::uint64_t block = device.settings.small_block.count();
  const auto up_to_block_end = [block](const Range& range, std::uint64_t offset) {
    return range.size == Bytes() ? kNoLimit : Bytes(block - (range.base + offset) % block);
  };
  std::uint64_t offset = 0;
  for (Rows all = access.parts->rows_at(0); all.count > 0; all = access.parts->rows_at(offset)) {
    const Rows rows = all.within(up_to_block_end(access.destination, all.destination),
                                 up_to_block_end(access.source, all.source));
    const CUresult issued = issue_part(device, access, offset, rows);
    if (issued != CUDA_SUCCESS) return issued;
    offset += rows.size().count();
  }
  return CUDA_SUCCESS;
}

CUresult RuntimeImpl::issue_part(ManagedDevice& device, const Access& access, std::uint64_t offset,
                                 const Rows& rows) noexcept {
  Access part = access;
  part.destination = cut(access.destination, rows.destination, rows.span(rows.destination_pitch));
  part.source = cut(access.source, rows.source, rows.span(rows.source_pitch));
  const vmm::AccessAsk ask = ask_of(part, arena());
  const Result<vmm::InFlight*> admitted = device.memory->admit(ask);
  if (!admitted.ok()) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto address_of = [&](const Range& range) {
    return (*admitted)->from_host && range.base != 0 ? device.memory->alias(range.base).address : range.base;
  };
  const CUresult issued =
      access.parts->issue(offset, rows, address_of(part.destination), address_of(part.source));
  device.memory->leave(*admitted, ask.stream);
  return issued;
}

}  // namespace tencache::runtime
