// The syntax tree of one PTX module: what was written, resolved no further than names. The parser makes it,
// the engine's decoder gives it meaning. Thread rule: immutable once parsed. Failure rule: see parser.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace softgpu::ptx {

enum class Type : std::uint8_t {
  kNone,
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBf16,
  kBf16x2,
  kF32,
  kF64,
  kTf32,
};

enum class Space : std::uint8_t { kNone, kReg, kSreg, kGlobal, kShared, kLocal, kConst, kParam };

// Registers are numbered per function after scoping: nested { } scopes have been renamed apart.
using RegisterId = std::uint32_t;
inline constexpr std::uint32_t kNoIndex = 0xffffffffu;

struct Operand {
  enum class Kind : std::uint8_t {
    kNone,
    kRegister,   // reg; `negated` for !%p
    kImmediate,  // `bits`: integers sign-extended to 64 bits; 0f/0d literals as their bit pattern, `is_float`
                 // set
    kSymbol,     // symbol (+ bits as byte offset): variable, function or .callprototype name
    kMemory,     // [reg + bits] or [symbol + bits] or [bits]; what follows a comma inside is in `elements`
    kVector,     // elements (registers, immediates, or the sink `_` as kSink)
    kLabel,      // target = index of the instruction in the function's body; its size for a label at the end
    kSpecial,    // symbol = "%tid.x", "%laneid", "WARP_SZ", ...
    kSink,       // _
    kList,       // ( ... ) of a call, or the labels of a brx.idx; elements
  };
  Kind kind = Kind::kNone;
  bool negated = false;
  bool is_float = false;
  bool is_double =
      false;  // with is_float: `bits` is a double (0d or decimal), which a use as f32 or f16 rounds
  RegisterId reg = kNoIndex;
  std::uint32_t target = kNoIndex;
  std::int64_t bits = 0;
  std::string symbol;
  std::vector<Operand> elements;
  // `setp %p|%q`: the second destination is a separate operand with `paired` set.
  bool paired = false;
};

struct Instruction {
  std::string opcode;                  // "ld", "fma", "setp", "bar", ...
  std::vector<std::string> modifiers;  // {"global", "nc", "v4", "f32"}: as written after each dot
  RegisterId guard = kNoIndex;         // predicate register of @%p
  bool guard_negated = false;
  std::vector<Operand> operands;  // in order of writing; call: return list, callee, argument list (both lists
                                  // always there, perhaps empty), then the prototype of an indirect one
  std::uint32_t line = 0;         // in the PTX text
};

// A `.v4` register is four registers `name.x` to `name.w`, and as an operand a vector of them.
struct Register {
  std::string name;
  Type type = Type::kNone;
};

struct Relocation {
  std::uint32_t offset;   // into the initial bytes
  std::uint8_t size;      // bytes patched: 1..8 (8 whole, or one byte of the address when `byte` is given)
  std::int8_t byte = -1;  // which byte of the address, or -1
  std::string symbol;
  std::int64_t addend = 0;
};
// A variable: .global/.const/.shared of a module, .shared/.local/.param inside a function. Where a function's
// own would have the name of another in reach, it is renamed `name#2`; a program cannot write such a name.
struct Variable {
  std::string name;
  Space space = Space::kNone;
  Type type = Type::kNone;
  std::uint32_t align = 1;
  std::uint64_t size = 0;  // bytes; 0 for `extern .shared x[]`
  bool is_extern = false;
  bool is_visible = false;
  bool is_managed = false;
  std::vector<std::uint8_t> initial;  // `size` bytes, or empty: zero-filled
  std::vector<Relocation> relocations;
};

// A declaration that the module also defines is not kept apart: the definition has taken its place.
struct Function {
  std::string name;
  bool is_entry = false;
  bool is_declaration = false;       // prototype only (.extern or forward)
  bool is_prototype = false;         // a .callprototype
  std::vector<Variable> parameters;  // space kParam
  std::vector<Variable> returns;
  std::vector<Register> registers;
  std::vector<Variable>
      variables;  // .local, .shared, .param declared in the body (renamed apart like registers)
  std::vector<Instruction> body;
  std::uint32_t max_threads = 0;       // .maxntid product, 0: not given
  std::uint32_t required_threads = 0;  // .reqntid product, 0: not given
  std::uint32_t line = 0;
};

struct Module {
  unsigned version_major = 0, version_minor = 0;
  unsigned target = 0;  // 75, 80, ...
  std::vector<Variable> variables;
  std::vector<Function> functions;  // entries, device functions, declarations, prototypes
};

}  // namespace softgpu::ptx
