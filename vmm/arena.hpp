// The large virtual ranges of the process: one for the program's addresses, so that 'is this ours?' is one
// subtraction, and one for the aliases of blocks. Called by the runtime once. Thread rule: one caller.
// Failure rule: smaller and smaller sizes are asked for; kNotSupported when the driver grants none.
#pragma once

#include "src/base/status.hpp"
#include "src/base/units.hpp"
#include "src/driver/driver.hpp"

namespace tencache::vmm {

struct ReservedRange {
  CUdeviceptr base = 0;
  Bytes size;
};

// The largest power of two between the two sizes that the driver grants.
Result<ReservedRange> reserve_range(const Driver& driver, Bytes most, Bytes least);

// Where host blocks go on this machine: the first of HOST, HOST_NUMA of the device's node, other nodes that a
// block could really be created, mapped, accessed and touched in.
Result<CUmemLocation> probe_host_location(const Driver& driver, CUdevice device, Bytes granularity);

}  // namespace tencache::vmm
