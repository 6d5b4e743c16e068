// Which registers still matter where: those whose value may be read before it is written again. Called by the
// engine's decoder. Thread rule: pure. Failure rule: none; a guarded write does not end a life.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/softgpu/ptx/cfg.hpp"
#include "tools/softgpu/ptx/module.hpp"

namespace softgpu::ptx {

class RegisterSet {
 public:
  RegisterSet() = default;
  explicit RegisterSet(std::size_t registers) : words_((registers + 63) / 64, 0) {}

  void add(RegisterId reg) { words_[reg / 64] |= std::uint64_t{1} << (reg % 64); }
  void remove(RegisterId reg) { words_[reg / 64] &= ~(std::uint64_t{1} << (reg % 64)); }
  [[nodiscard]] bool has(RegisterId reg) const { return (words_[reg / 64] >> (reg % 64) & 1) != 0; }
  // True where `other` had something new.
  bool merge(const RegisterSet& other);
  [[nodiscard]] RegisterSet without(const RegisterSet& other) const;
  [[nodiscard]] std::size_t count() const;
  bool operator==(const RegisterSet&) const = default;

 private:
  std::vector<std::uint64_t> words_;
};

struct Liveness {
  std::vector<RegisterSet> live_in, live_out;  // by block
  // Registers that live into any block. Any other one is written before it is read within each block that
  // uses it: no lane outside the block waits for its value.
  RegisterSet across_blocks;
};

[[nodiscard]] Liveness find_liveness(const Function& function, const ControlFlowGraph& graph);

// Steps backwards over one instruction: `live` behind it becomes `live` before it.
void step_back(const Instruction& instruction, RegisterSet& live);

}  // namespace softgpu::ptx
