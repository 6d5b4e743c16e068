// Whether this thread is inside work of ours or of the driver's. The driver calls its own exports, and those
// are ours by name; a door that finds itself entered from inside passes straight on. Used by the doors around
// every call they let through, and by each thread of our own for its whole life. Thread rule: per thread.
// Failure rule: nothing here fails.
#pragma once

namespace tencache {

inline constinit thread_local unsigned inside_depth = 0;

class Inside {
 public:
  Inside() noexcept { ++inside_depth; }
  ~Inside() { --inside_depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

}  // namespace tencache
