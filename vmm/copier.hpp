// The copy streams of ours, one each way, one on which blocks are only read, and the events that tell when
// work on them is done. Called by the
// engine alone, on its thread, with the device's primary context current. Thread rule: one thread. Failure
// rule: answers the driver's code; nothing has been enqueued then.
#pragma once

#include <cuda.h>

#include <vector>

#include "src/base/status.hpp"
#include "src/driver/driver.hpp"
#include "vmm/fingerprints.hpp"

namespace tencache::vmm {

class Copier {
 public:
  static Result<Copier> open(const Driver& driver);
  void finish() const;  // waits for all copies
  void close();

  // Each enqueues its work and an event behind it.
  // `taken` is the fingerprint's place, for what is read; none where `prints` is null or has none.
  using Taken = std::optional<Fingerprints::Place>;
  Result<CUevent> copy_out(const Block& hbm, const Block& host, Fingerprints* prints, Taken* taken);
  Result<CUevent> read(const Block& hbm, Fingerprints* prints, Taken* taken);
  Result<CUevent> copy_in(const Block& host, const Block& hbm);
  Result<CUevent> zero(const Block& block);

  // Not ready, done, or failed; the event is taken back unless it is not ready.
  enum class Progress : std::uint8_t { kRunning, kDone, kFailed };
  Progress poll(CUevent event);
  // What the driver said of a copy that was enqueued and failed: an error of the whole context.
  [[nodiscard]] CUresult failure() const { return failure_; }

 private:
  explicit Copier(const Driver& driver) : driver_(&driver) {}
  CUresult copy(const Block& destination, const Block& source, CUstream stream) const;
  Result<CUevent> mark(CUresult enqueued, CUstream stream);

  const Driver* driver_;
  CUstream out_ = nullptr;
  CUstream in_ = nullptr;
  CUstream read_ = nullptr;
  std::vector<CUevent> free_events_;
  CUresult failure_ = CUDA_SUCCESS;
};

}  // namespace tencache::vmm
