// The one kernel of ours that reads memory. In one pass over a piece it marks the units of the arena that the
// piece's words point into (the census), takes the piece's fingerprint, or both. Called by Census and
// Fingerprints, on the engine's thread, with the primary context current. Thread rule: one thread. Failure
// rule: the driver's code.
#pragma once

#include <cuda.h>

#include "src/base/status.hpp"
#include "src/base/units.hpp"
#include "src/driver/driver.hpp"
#include "vmm/fingerprint.hpp"

namespace tencache::vmm {

struct MemoryPiece {
  CUdeviceptr address = 0;
  Bytes size;  // whole words of 8 bytes
};

class ReadingKernel {
 public:
  static Result<ReadingKernel> open(const Driver& driver);
  void close();

  // Words in [base, base + size) mark the byte of their unit in `map`. Size 0: none does.
  struct Search {
    CUdeviceptr base = 0;
    Bytes size;
    Bytes unit = Bytes(1);
    CUdeviceptr map = 0;
  };
  // `sums`, three zeroed words in device memory, are zero again when `result`, which the device reaches at
  // its host address, has been written. Null: no fingerprint.
  struct Print {
    CUdeviceptr sums = 0;
    Fingerprint* result = nullptr;
  };
  [[nodiscard]] const Fingerprint::Seeds& seeds() const { return seeds_; }
  CUresult launch(const MemoryPiece& piece, const Search& search, const Print& print, CUstream stream) const;

 private:
  explicit ReadingKernel(const Driver& driver) : driver_(&driver) {}

  const Driver* driver_;
  Fingerprint::Seeds seeds_;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
};

}  // namespace tencache::vmm
