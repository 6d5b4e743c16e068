// From the syntax tree of one function to its Code. Called by compile(). Thread rule: one decoder, one
// thread. Failure rule: the first instruction that is not understood becomes Code::error; the function then
// cannot be launched, its module still loads.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/softgpu/engine/code.hpp"
#include "tools/softgpu/ptx/module.hpp"

namespace softgpu::engine {

// Names of the module, numbered as the program keeps them.
struct Names {
  enum class Kind : std::uint8_t { kGlobal, kShared, kFunction, kSystemCall, kPrototype };
  struct Entry {
    Kind kind;
    std::uint32_t index;
  };
  std::unordered_map<std::string, Entry> entries;
};

// Finds rows by key.
class Tables {
 public:
  explicit Tables(const Kernels& kernels);
  [[nodiscard]] const Kernels& kernels() const { return kernels_; }
  [[nodiscard]] const Row* row(std::string_view key) const;
  [[nodiscard]] const CompareRow* compare(std::string_view key) const;

 private:
  const Kernels& kernels_;
  std::unordered_map<std::string_view, const Row*> rows_;
  std::unordered_map<std::string_view, const CompareRow*> compares_;
};

class Decoder {
 public:
  Decoder(const ptx::Function& function, const Names& names, const Tables& tables);
  Code decode();

  // What the opcode table (opcodes.cpp) names.
  void arithmetic(const ptx::Instruction& in);
  void move(const ptx::Instruction& in);
  void logic(const ptx::Instruction& in);
  void bit_field(const ptx::Instruction& in);
  void lookup(const ptx::Instruction& in);
  void carry(const ptx::Instruction& in);
  void convert(const ptx::Instruction& in);
  void convert_address(const ptx::Instruction& in);
  void test_space(const ptx::Instruction& in);
  void set_predicate(const ptx::Instruction& in);
  void set(const ptx::Instruction& in);
  void select(const ptx::Instruction& in);
  void load(const ptx::Instruction& in);
  void store(const ptx::Instruction& in);
  void atomic(const ptx::Instruction& in);
  void copy_async(const ptx::Instruction& in);
  void fence(const ptx::Instruction& in);
  void hint(const ptx::Instruction& in);
  void shuffle(const ptx::Instruction& in);
  void vote(const ptx::Instruction& in);
  void match(const ptx::Instruction& in);
  void reduce(const ptx::Instruction& in);
  void active_mask(const ptx::Instruction& in);
  void barrier(const ptx::Instruction& in);
  void branch(const ptx::Instruction& in);
  void branch_indexed(const ptx::Instruction& in);
  void call(const ptx::Instruction& in);
  void leave(const ptx::Instruction& in);
  void trap(const ptx::Instruction& in);
  void pause(const ptx::Instruction& in);

 private:
  // decoder.cpp: slots, operands, emission.
  void number_variables();
  void decode_one(const ptx::Instruction& in);
  void place_joins();
  void settle_targets();
  SlotId slot(const Slot& wanted);
  SlotId immediate(std::uint64_t value, int width);
  SlotId temporary(int width);
  [[nodiscard]] int width_of(SlotId id) const { return code_.slots[id].width; }
  SlotId resized(SlotId id, int width, bool is_signed);
  SlotId source(const ptx::Operand& operand, int width);
  SlotId special(const std::string& name);
  SlotId symbol(const ptx::Operand& operand, int width);
  SlotId predicate(const ptx::Operand& operand);
  const ptx::Operand& operand(const ptx::Instruction& in, std::size_t index);
  // A slot of `width` to write; finish_target() brings it into the operand's register.
  SlotId target(const ptx::Operand& operand, int width);
  void finish_target(const ptx::Operand& operand, SlotId written, bool is_signed);
  Instruction& emit(Handler handler);
  Instruction& emit_row(std::string_view key, SlotId d, std::initializer_list<SlotId> sources);
  void refuse(std::string why);
  [[nodiscard]] bool failed() const { return !code_.error.empty(); }
  const Row* require_row(const std::string& key);

  // decode_memory.cpp
  struct Access;
  Access access_of(const ptx::Instruction& in);
  void address(const ptx::Operand& operand, Window window, Instruction& in);
  void order(const Access& access);
  // decode_move.cpp
  void pack_vector(const ptx::Operand& to, const ptx::Operand& from, int width);
  void unpack_vector(const ptx::Operand& to, const ptx::Operand& from, int width);
  // decode_control.cpp
  void call_function(const ptx::Instruction& in, const ptx::Operand& callee, std::uint32_t site);
  void system_call(std::uint32_t which, std::uint32_t site);

  const ptx::Function& function_;
  const Names& names_;
  const Tables& tables_;
  Code code_;
  const ptx::Instruction* current_ = nullptr;
  std::map<std::tuple<SlotKind, int, std::uint32_t, std::int64_t>, SlotId> known_slots_;
  struct Local {
    ptx::Space space;
    std::uint32_t offset;
    std::uint32_t bytes;
  };
  std::unordered_map<std::string, Local> locals_;
  std::vector<bool> is_target_;
  std::vector<std::uint32_t> places_;  // of the tree's instructions
  SlotId carry_slot_ = kNoSlot;
};

// opcodes.cpp
struct Opcode {
  std::string_view name;
  void (Decoder::*decode)(const ptx::Instruction&);
  bool masks;  // a guard narrows the mask; else it is a branch around
};
const Opcode* find_opcode(std::string_view name);

// The functions that every device offers: vprintf, __assertfail, malloc, free.
struct SystemCall {
  std::string_view name;
  Handler handler;
  bool prints;
};
const SystemCall* find_system_call(std::string_view name, std::uint32_t* index);
const SystemCall& system_call_at(std::uint32_t index);

// Bytes of a type's element in a register: 8-bit types travel in 16 bits, predicates have 0.
int register_width(ptx::Type type);
// From "u32", "f16x2", ...: bytes in memory, 0 for what is no type.
int type_bytes(std::string_view type);
bool type_is_signed(std::string_view type);
bool type_is_float(std::string_view type);

}  // namespace softgpu::engine
