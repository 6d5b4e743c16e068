// The wall clock the device clock is held against. Called by all of softgpu. Thread rule: stateless. Failure
// rule: nothing fails.
#pragma once

#include <cstdint>

namespace softgpu {

// Nanoseconds of the monotonic clock.
std::uint64_t now_ns();
// Returns not before `deadline_ns`; sleeps where that is worth it, spins over the last microseconds.
void wait_until_ns(std::uint64_t deadline_ns);
// Occupies the calling thread, as a driver call does.
void spend_ns(std::uint64_t duration_ns);
// Nanoseconds that `amount` takes at `rate` a second; 0 is instant.
std::uint64_t duration_ns(std::uint64_t amount, std::uint64_t rate);

}  // namespace softgpu
