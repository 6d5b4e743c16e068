#include "tools/softgpu/ptx/liveness.hpp"

#include <bit>
#include <numeric>

#include "tools/softgpu/ptx/operand_roles.hpp"

namespace softgpu::ptx {
namespace {

// What one block reads before it writes it, and what it surely writes.
struct Effect {
  RegisterSet reads, writes;
};

Effect effect_of(const Function& function, const BasicBlock& block, RegisterRoles& roles) {
  Effect effect{RegisterSet(function.registers.size()), RegisterSet(function.registers.size())};
  for (std::uint32_t i = block.begin; i < block.end; ++i) {
    find_roles(function.body[i], roles);
    for (const RegisterId reg : roles.reads) {
      if (!effect.writes.has(reg)) effect.reads.add(reg);
    }
    if (function.body[i].guard != kNoIndex) continue;
    for (const RegisterId reg : roles.writes) effect.writes.add(reg);
  }
  return effect;
}

}  // namespace

bool RegisterSet::merge(const RegisterSet& other) {
  bool grew = false;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    grew = grew || (other.words_[i] & ~words_[i]) != 0;
    words_[i] |= other.words_[i];
  }
  return grew;
}

RegisterSet RegisterSet::without(const RegisterSet& other) const {
  RegisterSet result = *this;
  for (std::size_t i = 0; i < words_.size(); ++i) result.words_[i] &= ~other.words_[i];
  return result;
}

std::size_t RegisterSet::count() const {
  return std::accumulate(words_.begin(), words_.end(), std::size_t{0},
                         [](std::size_t sum, std::uint64_t word) {
                           return sum + static_cast<std::size_t>(std::popcount(word));
                         });
}

Liveness find_liveness(const Function& function, const ControlFlowGraph& graph) {
  const RegisterSet none(function.registers.size());
  Liveness result{std::vector(graph.blocks.size(), none), std::vector(graph.blocks.size(), none), none};
  std::vector<Effect> effects;
  RegisterRoles roles;
  for (const BasicBlock& block : graph.blocks) effects.push_back(effect_of(function, block, roles));
  for (BlockId block = 0; block < effects.size(); ++block) result.live_in[block] = effects[block].reads;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto block = graph.order.rbegin(); block != graph.order.rend(); ++block) {
      RegisterSet& out = result.live_out[*block];
      bool grew = false;
      for (const BlockId next : graph.blocks[*block].successors)
        grew = out.merge(result.live_in[next]) || grew;
      if (!grew) continue;
      result.live_in[*block].merge(out.without(effects[*block].writes));
      changed = true;
    }
  }
  for (const RegisterSet& live : result.live_in) result.across_blocks.merge(live);
  return result;
}

void step_back(const Instruction& instruction, RegisterSet& live) {
  RegisterRoles roles;
  find_roles(instruction, roles);
  if (instruction.guard == kNoIndex) {
    for (const RegisterId reg : roles.writes) live.remove(reg);
  }
  for (const RegisterId reg : roles.reads) live.add(reg);
}

}  // namespace softgpu::ptx
