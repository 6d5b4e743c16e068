#include "vmm/fingerprints.hpp"

namespace tencache::vmm {

namespace {
constexpr std::uint64_t kSumsBytes = 32;  // two sums and a ticket
}

Result<Fingerprints> Fingerprints::open(const Driver& driver, const ReadingKernel& kernel) {
  Fingerprints prints(driver, kernel);
  const CUresult made = prints.make();
  if (made == CUDA_SUCCESS) return prints;
  prints.close();
  return Status(StatusCode::kDriverFailed, "there is no memory for fingerprints", made);
}

CUresult Fingerprints::make() {
  constexpr unsigned kFlags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
  void* results = nullptr;
  CUresult result = driver_->cuMemAlloc_v2(&sums_, kPlaces * kSumsBytes);
  if (result == CUDA_SUCCESS) result = zero_sums();
  if (result == CUDA_SUCCESS)
    result = driver_->cuMemHostAlloc(&results, kPlaces * sizeof(Fingerprint), kFlags);
  results_ = static_cast<Fingerprint*>(results);
  for (Place place = 0; place < kPlaces; ++place) free_.push_back(place);
  return result;
}

// On a stream of its own, and waited for: nobody's work is.
CUresult Fingerprints::zero_sums() {
  CUstream stream = nullptr;
  CUresult result = driver_->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  if (result != CUDA_SUCCESS) return result;
  result = driver_->cuMemsetD8Async(sums_, 0, kPlaces * kSumsBytes, stream);
  if (result == CUDA_SUCCESS) result = driver_->cuStreamSynchronize(stream);
  driver_->cuStreamDestroy_v2(stream);
  return result;
}

void Fingerprints::close() {
  if (results_ != nullptr) driver_->cuMemFreeHost(results_);
  if (sums_ != 0) driver_->cuMemFree_v2(sums_);
  results_ = nullptr;
  sums_ = 0;
}

std::optional<Fingerprints::Place> Fingerprints::enqueue(const Block& block, CUstream stream) {
  if (free_.empty()) return std::nullopt;
  const Place place = free_.back();
  const ReadingKernel::Print print{sums_ + place * kSumsBytes, results_ + place};
  if (kernel_.launch({block.address, block.size}, {}, print, stream) != CUDA_SUCCESS) return std::nullopt;
  free_.pop_back();
  return place;
}

Fingerprint Fingerprints::take(Place place) {
  free_.push_back(place);
  return results_[place];
}

}  // namespace tencache::vmm
