// How much memory the host has for us. Called once a device. Thread rule: any thread. Failure rule: what
// cannot be read does not limit.
#pragma once

#include "src/base/units.hpp"

namespace tencache::runtime {

// The machine's memory, or the cgroup's limit where that is less.
[[nodiscard]] Bytes host_memory();

}  // namespace tencache::runtime
