#include "vmm/copier.hpp"

namespace tencache::vmm {

Result<Copier> Copier::open(const Driver& driver) {
  Copier copier(driver);
  CUresult result = driver.cuStreamCreate(&copier.out_, CU_STREAM_NON_BLOCKING);
  if (result == CUDA_SUCCESS) result = driver.cuStreamCreate(&copier.in_, CU_STREAM_NON_BLOCKING);
  if (result == CUDA_SUCCESS) result = driver.cuStreamCreate(&copier.read_, CU_STREAM_NON_BLOCKING);
  if (result != CUDA_SUCCESS) {
    copier.close();
    return Status(StatusCode::kDriverFailed, "the copy streams cannot be made", result);
  }
  return copier;
}

void Copier::close() {
  for (CUstream* const stream : {&out_, &in_, &read_}) {
    if (*stream != nullptr) driver_->cuStreamDestroy_v2(*stream);
    *stream = nullptr;
  }
  for (const CUevent event : free_events_) driver_->cuEventDestroy_v2(event);
  free_events_.clear();
}

void Copier::finish() const {
  for (const CUstream stream : {out_, in_, read_}) driver_->cuStreamSynchronize(stream);
}

CUresult Copier::copy(const Block& destination, const Block& source, CUstream stream) const {
  const std::size_t size = destination.size.count();
  if (source.handle == 0) {
    const void* pinned = reinterpret_cast<const void*>(source.address);
    return driver_->cuMemcpyHtoDAsync_v2(destination.address, pinned, size, stream);
  }
  if (destination.handle == 0) {
    void* pinned = reinterpret_cast<void*>(destination.address);
    return driver_->cuMemcpyDtoHAsync_v2(pinned, source.address, size, stream);
  }
  return driver_->cuMemcpyDtoDAsync_v2(destination.address, source.address, size, stream);
}

// The fingerprint is taken behind the copy: the link does not wait for a kernel.
Result<CUevent> Copier::copy_out(const Block& hbm, const Block& host, Fingerprints* prints, Taken* taken) {
  const CUresult copied = copy(host, hbm, out_);
  if (copied == CUDA_SUCCESS && prints != nullptr) *taken = prints->enqueue(hbm, out_);
  return mark(copied, out_);
}

Result<CUevent> Copier::read(const Block& hbm, Fingerprints* prints, Taken* taken) {
  *taken = prints->enqueue(hbm, read_);
  return mark(taken->has_value() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY, read_);
}

Result<CUevent> Copier::copy_in(const Block& host, const Block& hbm) {
  return mark(copy(hbm, host, in_), in_);
}

Result<CUevent> Copier::zero(const Block& block) {
  return mark(driver_->cuMemsetD8Async(block.address, 0, block.size.count(), in_), in_);
}

Result<CUevent> Copier::mark(CUresult enqueued, CUstream stream) {
  if (enqueued != CUDA_SUCCESS) return Status(StatusCode::kDriverFailed, "a copy was refused", enqueued);
  CUevent event = nullptr;
  CUresult result = CUDA_SUCCESS;
  if (free_events_.empty()) {
    result = driver_->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
  } else {
    event = free_events_.back();
    free_events_.pop_back();
  }
  if (result == CUDA_SUCCESS) result = driver_->cuEventRecord(event, stream);
  if (result == CUDA_SUCCESS) return event;
  driver_->cuStreamSynchronize(stream);  // the copy is enqueued: nobody may reuse its blocks before its end
  return Status(StatusCode::kDriverFailed, "an event was refused", result);
}

Copier::Progress Copier::poll(CUevent event) {
  const CUresult result = driver_->cuEventQuery(event);
  if (result == CUDA_ERROR_NOT_READY) return Progress::kRunning;
  free_events_.push_back(event);
  if (result != CUDA_SUCCESS) failure_ = result;
  return result == CUDA_SUCCESS ? Progress::kDone : Progress::kFailed;
}

}  // namespace tencache::vmm
