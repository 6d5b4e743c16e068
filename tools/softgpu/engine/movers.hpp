// Moves elements between registers and host memory, whole halves at a time. Chosen by the decoder by element
// type and register width. Thread rule and failure rule: none, plain loops.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softgpu::engine {

// Elements of halves [first, last) of one register, `bits` a half saying which lanes take part.
struct Mover {
  // Lane l of half h is at host[h] + l * stride.
  void (*strided)(void* elements, std::uint8_t* const* host, std::ptrdiff_t stride, const std::uint16_t* bits,
                  int first, int last);
  // Lane l of half h is at host[16 * h + l] + offset.
  void (*gathered)(void* elements, std::uint8_t* const* host, std::ptrdiff_t offset,
                   const std::uint16_t* bits, int first, int last);
  // One element a half, at host[h].
  void (*uniform)(void* bases, std::uint8_t* const* host, int first, int last);
};

// Null where there is no such instruction.
const Mover* load_mover(int size, bool is_signed, int register_width);
const Mover* store_mover(int size, int register_width);

}  // namespace softgpu::engine
