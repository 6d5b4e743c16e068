// What the engine's arithmetic tests share: random bits that are the same in every test, and launches over
// kN elements. Thread rule: one test at a time.
#pragma once

#include "tests/softgpu/engine_machine.hpp"

namespace softgpu::test {

inline std::uint64_t random_state;
inline std::uint64_t random_bits() {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

class EngineArithmetic : public EngineTest {
 protected:
  static constexpr int kN = 1500;
  void SetUp() override {
    EngineTest::SetUp();
    random_state = 88172645463325252u;
  }
  template <class... Buffers>
  void launch(const char* kernel, Buffers... buffers) {
    expect_done(machine.launch(kernel, {6, 1, 1}, {256, 1, 1}, buffers..., kN));
  }
  Machine machine{"arithmetic.ptx", GetParam()};
};

}  // namespace softgpu::test
