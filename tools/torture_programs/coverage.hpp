// In which states of tencache's extents the calls of each kind came, where tencache is in the same
// executable: printed on standard error at the end, a line `covered KIND STATE TIMES` each. Called by main
// and the executor. Thread rule: one thread. Failure rule: says nothing where nobody can be asked.
#pragma once

#include <cstdint>
#include <string_view>

#include "tools/torture_programs/program.hpp"

namespace torture {

// How often accesses have come to an extent in each state, in all the process.
struct StateMet {
  const char* state;
  std::uint64_t times;
};
inline constexpr std::size_t kMostStates = 16;

// While it lives, what is met is put down to the kind.
class Covers {
 public:
  explicit Covers(Kind kind);
  ~Covers();
  Covers(const Covers&) = delete;
  Covers& operator=(const Covers&) = delete;

 private:
  Kind kind_;
};

void print_coverage();

}  // namespace torture

// Defined where tencache is in the same executable. Writes at most torture::kMostStates and answers how many.
extern "C" __attribute__((weak)) std::size_t torture_states_met(torture::StateMet* states);
