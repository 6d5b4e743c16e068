// Takes fingerprints of blocks on the GPU: a place for each that is under way, its sums in device memory, its
// result where the host reads it. Called by the engine alone, on its thread, with the primary context
// current. Thread rule: one thread. Failure rule: `open` says why they cannot be had; without a free place
// there is none, and who wanted it does without.
#pragma once

#include <optional>
#include <vector>

#include "vmm/block_source.hpp"
#include "vmm/reading_kernel.hpp"

namespace tencache::vmm {

class Fingerprints {
 public:
  using Place = std::uint32_t;

  static Result<Fingerprints> open(const Driver& driver, const ReadingKernel& kernel);
  // Nothing of it may be under way.
  void close();

  // Taken on `stream`, in its order. Nothing may write the block until then. None: it was not enqueued.
  std::optional<Place> enqueue(const Block& block, CUstream stream);
  // Once the stream has done it; the place is free again.
  Fingerprint take(Place place);

 private:
  static constexpr std::uint32_t kPlaces = 64;
  Fingerprints(const Driver& driver, const ReadingKernel& kernel) : driver_(&driver), kernel_(kernel) {}
  CUresult make();
  CUresult zero_sums();

  const Driver* driver_;
  ReadingKernel kernel_;
  CUdeviceptr sums_ = 0;
  Fingerprint* results_ = nullptr;
  std::vector<Place> free_;
};

}  // namespace tencache::vmm
