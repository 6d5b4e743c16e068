// Copies from one device's memory to another's.
#include "src/runtime/runtime_impl.hpp"

namespace tencache::runtime {

// Each device knows the order of its own streams alone, so that the copy is let in on both and done before
// either goes on. Piece by piece, each within a block on either side.
CUresult RuntimeImpl::copy_across(ManagedDevice& to, ManagedDevice& from, const Access& access) noexcept {
  if (!to.memory->is_live_range(access.destination.base, access.destination.size) ||
      !from.memory->is_live_range(access.source.base, access.source.size)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (access.parts == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const auto to_block_end = [](const ManagedDevice& device, CUdeviceptr address) {
    const std::uint64_t block = device.settings.small_block.count();
    return Bytes(block - address % block);
  };
  std::uint64_t offset = 0;
  for (Rows all = access.parts->rows_at(0); all.count > 0; all = access.parts->rows_at(offset)) {
    const CUdeviceptr destination = access.destination.base + all.destination;
    const CUdeviceptr source = access.source.base + all.source;
    const Rows rows = all.within(to_block_end(to, destination), to_block_end(from, source));
    const CUresult issued = copy_piece_across(to, from, access, {offset, rows, destination, source});
    if (issued != CUDA_SUCCESS) return issued;
    offset += rows.size().count();
  }
  return CUDA_SUCCESS;
}

CUresult RuntimeImpl::copy_piece_across(ManagedDevice& to, ManagedDevice& from, const Access& access,
                                        const PieceAcross& piece) noexcept {
  Access writing = access;
  writing.source = {};
  writing.destination = {piece.destination, piece.rows.span(piece.rows.destination_pitch)};
  Access reading = access;
  reading.destination = {};
  reading.source = {piece.source, piece.rows.span(piece.rows.source_pitch)};
  const Result<vmm::InFlight*> written = to.memory->admit(ask_of(writing, arena()));
  if (!written.ok()) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult issued = CUDA_ERROR_OUT_OF_MEMORY;
  const Result<vmm::InFlight*> read = from.memory->admit(ask_of(reading, arena()));
  if (read.ok()) {
    const auto address_in = [](ManagedDevice& device, const vmm::InFlight& admitted, CUdeviceptr address) {
      return admitted.from_host ? device.memory->alias(address).address : address;
    };
    issued = access.parts->issue(piece.offset, piece.rows, address_in(to, **written, piece.destination),
                                 address_in(from, **read, piece.source));
    const CUresult waited = driver_.cuStreamSynchronize(access.stream.handle);
    if (issued == CUDA_SUCCESS) issued = waited;
    from.memory->leave(*read, access.stream.handle);
  }
  to.memory->leave(*written, access.stream.handle);
  return issued;
}

}  // namespace tencache::runtime
