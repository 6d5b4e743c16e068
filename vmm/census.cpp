#include "vmm/census.hpp"

#include <algorithm>

namespace tencache::vmm {

namespace {

constexpr std::uint64_t kMapBytes = 256 << 10;

}  // namespace

Result<Census> Census::open(const Driver& driver, const ReadingKernel& kernel, const Arena& arena) {
  Census census(driver, kernel, arena);
  const CUresult made = census.make();
  if (made == CUDA_SUCCESS) return census;
  census.close();
  return Status(StatusCode::kDriverFailed, "the census cannot be had", made);
}

CUresult Census::make() {
  CUresult result = driver_->cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING);
  if (result == CUDA_SUCCESS) result = driver_->cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING);
  if (result == CUDA_SUCCESS) result = driver_->cuMemAlloc_v2(&map_, kMapBytes);
  void* found = nullptr;
  if (result == CUDA_SUCCESS) result = driver_->cuMemHostAlloc(&found, kMapBytes, CU_MEMHOSTALLOC_PORTABLE);
  found_ = static_cast<unsigned char*>(found);
  return result;
}

void Census::close() {
  if (stream_ != nullptr) driver_->cuStreamSynchronize(stream_);
  if (found_ != nullptr) driver_->cuMemFreeHost(found_);
  if (map_ != 0) driver_->cuMemFree_v2(map_);
  if (event_ != nullptr) driver_->cuEventDestroy_v2(event_);
  if (stream_ != nullptr) driver_->cuStreamDestroy_v2(stream_);
  found_ = nullptr;
  map_ = 0;
  event_ = nullptr;
  stream_ = nullptr;
}

std::uint32_t Census::rows_for(std::uint64_t units) const {
  return static_cast<std::uint32_t>(kMapBytes / std::max<std::uint64_t>(units, 1));
}

bool Census::start(std::span<const Piece> pieces, std::uint32_t rows, std::uint64_t units) {
  units_ = units;
  const std::size_t bytes = rows * units;
  CUresult result = driver_->cuMemsetD8Async(map_, 0, bytes, stream_);
  for (const Piece& piece : pieces) {
    if (result == CUDA_SUCCESS) result = launch(piece);
  }
  if (result == CUDA_SUCCESS) result = driver_->cuMemcpyDtoHAsync_v2(found_, map_, bytes, stream_);
  if (result == CUDA_SUCCESS) result = driver_->cuEventRecord(event_, stream_);
  if (result == CUDA_SUCCESS) return true;
  driver_->cuStreamSynchronize(stream_);  // nothing may read the blocks any more
  return false;
}

CUresult Census::launch(const Piece& piece) const {
  const ReadingKernel::Search search{arena_.base, arena_.unit * units_, arena_.unit,
                                     map_ + piece.row * units_};
  return kernel_.launch(piece.memory, search, {}, stream_);
}

Census::Progress Census::poll() {
  const CUresult result = driver_->cuEventQuery(event_);
  if (result == CUDA_ERROR_NOT_READY) return Progress::kRunning;
  return result == CUDA_SUCCESS ? Progress::kDone : Progress::kFailed;
}

}  // namespace tencache::vmm
