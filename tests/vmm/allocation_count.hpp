// How often this thread allocates while it counts, in the fake driver apart. Used by the allocation tests.
// Thread rule: per thread. Failure rule: none.
#pragma once

#include <cstdint>

namespace tencache::test {

inline thread_local bool counting = false;
inline thread_local std::uint64_t allocations = 0;

}  // namespace tencache::test
