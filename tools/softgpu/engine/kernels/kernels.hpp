// The arithmetic of one PTX instruction over many lanes at once, compiled several times for different CPUs;
// the results are the same on all. Called by the interpreter's handlers only. Thread rule: pure functions of
// their arguments. Failure rule: none; every input has a defined result (a division by zero gives all ones).
#pragma once

#include <cstddef>
#include <cstdint>

namespace softgpu::engine {

// A pack is up to 8 warps that run together; a half is 16 lanes, the span over which a register may be kept
// as base + lane * stride.
inline constexpr int kWarpLanes = 32, kWarps = 8, kLanes = 256, kHalfLanes = 16, kHalves = 16;

// Works on `halves` * 16 elements. d may be one of the sources, never overlap one partly.
using Eval = void (*)(void* d, const void* a, const void* b, const void* c, int halves);
// One bit a lane, 16 a half.
using Compare = void (*)(std::uint16_t* mask, const void* a, const void* b, int halves);

// How an integer instruction acts on registers kept as base + lane * stride.
enum class Affine : std::uint8_t {
  kNone,
  kMove,
  kAdd,
  kSubtract,
  kMultiply,
  kMultiplyAdd,
  kShiftLeft,
  kNegate,
  kWidenSigned,
  kWidenUnsigned,
  kTruncate,
  kMultiplyWideSigned,
  kMultiplyWideUnsigned,
  kMultiplyAddWideSigned,
  kMultiplyAddWideUnsigned,
};

struct Row {
  const char* key;  // opcode and the modifiers that matter: "add.ftz.f32"
  Eval eval;
  std::uint8_t width[4];  // bytes of an element: d, a, b, c; 0 where there is none
  Affine affine = Affine::kNone;
};
struct CompareRow {
  const char* key;  // "lt.s32"
  Compare compare;
  std::uint8_t width;
};
template <class T>
struct Table {
  const T* rows;
  int count;
};

// v[lane] = base[half] + lane-in-half * stride
using Expand = void (*)(void* v, const void* base, std::int64_t stride, int halves);
// d[lane] = mask bit ? s[lane] : d[lane]
using Blend = void (*)(void* d, const void* s, const std::uint16_t* mask, int halves);

// Moves elements between a register and host memory. Elements of halves [first, last) of one register; `bits`
// says for each half which lanes take part.
struct Mover {
  // Lane l of half h is at host[h] + l * stride.
  void (*strided)(void* elements, std::uint8_t* const* host, std::ptrdiff_t stride, const std::uint16_t* bits,
                  int first, int last);
  // Lane l of half h is at host[16 * h + l] + offset.
  void (*gathered)(void* elements, std::uint8_t* const* host, std::ptrdiff_t offset,
                   const std::uint16_t* bits, int first, int last);
  // One element a half, at host[h]; null: no lane of it takes part.
  void (*uniform)(void* bases, std::uint8_t* const* host, int first, int last);
};
// The least and greatest of the bases of halves [first, last), and all their bits.
struct Spread {
  std::uint64_t least, greatest, bits;
};

struct Kernels {
  const char* name;
  Table<Row> integer, bits, floating, directed, half, convert, approximate;
  Table<CompareRow> compare;
  Expand expand[4];  // by log2 of the element's bytes
  Blend blend[4];
  // Null where there is no such instruction.
  const Mover* (*load_mover)(int size, bool is_signed, int register_width);
  const Mover* (*store_mover)(int size, int register_width);
  Spread (*spread)(const void* bases, int width, int first, int last);
};

const Kernels& kernels_v4();        // AVX-512
const Kernels& kernels_v3();        // AVX2, FMA
const Kernels& kernels_baseline();  // any x86-64
// The best of these for this CPU.
const Kernels& kernels_here();

}  // namespace softgpu::engine
