// Stands in for the runtime while there is none.
#include "src/runtime/runtime.hpp"

namespace tencache::runtime {
Runtime* start(const Driver&, const Options&) noexcept { return nullptr; }
}  // namespace tencache::runtime
