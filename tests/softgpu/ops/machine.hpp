// A piece of device memory and the engine, to run small kernels in tests. Called by the tests of
// instructions. Thread rule: one owner. Failure rule: what cannot be compiled or ends badly is a test failure
// with its message.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/softgpu/engine/engine.hpp"

namespace softgpu::ops {

class Machine {
 public:
  static constexpr std::uint64_t kBase = 0x7f00'0000'0000;
  static constexpr std::size_t kBytes = std::size_t{4} << 20;

  Machine();
  // The one that all tests of a process use, one after another: clearing megabytes for each would take
  // longest.
  static Machine& shared();

  // Memory lies from kBase on; it may be read and written between launches.
  [[nodiscard]] std::uint8_t* at(std::uint64_t address) { return memory_ + (address - kBase); }
  template <class T>
  [[nodiscard]] std::span<T> view(std::uint64_t address, std::size_t count) {
    return {reinterpret_cast<T*>(at(address)), count};
  }

  // Parameters are 8 bytes each.
  Outcome run(const Program& program, std::string_view kernel, std::uint32_t blocks, std::uint32_t threads,
              std::span<const std::uint64_t> parameters);

 private:
  std::vector<std::uint8_t> storage_;
  std::uint8_t* memory_;
  std::vector<std::atomic<std::uint64_t>> pages_;
  Mmu mmu_;
};

// The header of a module and `body`, compiled. Null after a failure, which it reports with the text.
std::shared_ptr<Program> compile_or_fail(const std::string& body);

}  // namespace softgpu::ops
