// Finds the PTX text in what a program registers or loads: nvcc's fat binary, its wrapper, plain PTX, a
// cubin. Called when a module is loaded. Thread rule: pure. Failure rule: a status and one sentence; whatever
// the bytes are, nothing outside the given range is read. Only the `_at` forms must trust a pointer: they
// read as far as the image's own headers say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace softgpu::ptx {

enum class ImageKind : std::uint8_t {
  kUnknown,
  kWrapper,    // what __cudaRegisterFatBinary gets: a pointer to the fat binary
  kFatBinary,  // nvcc's container of PTX and cubins
  kCubin,      // an ELF file: machine code, no PTX
  kText,       // PTX
};

// At least the first 4 bytes of an image must be readable; of text as many as it has.
[[nodiscard]] ImageKind image_kind(const void* image);
// The image that a wrapper points to; any other image itself. Null for a wrapper around nothing.
[[nodiscard]] const void* unwrap(const void* image);
// How far the image reaches, by its own headers; text with its final NUL. 0 where that cannot be told.
[[nodiscard]] std::size_t image_bytes(const void* image);

struct PtxImage {
  enum class Status : std::uint8_t {
    kFound,
    kNoPtx,    // CUDA_ERROR_NO_BINARY_FOR_GPU
    kCorrupt,  // CUDA_ERROR_INVALID_IMAGE
  };
  Status status = Status::kCorrupt;
  std::string text;     // without trailing NULs
  unsigned target = 0;  // 75, 80, ...; 0 for plain text, which says itself
  std::string what;     // without a text: why
};

// The PTX for the highest architecture that a device of `compute_capability` (75, 90, 120) can run.
[[nodiscard]] PtxImage choose_ptx(std::span<const std::uint8_t> image, unsigned compute_capability);
[[nodiscard]] PtxImage choose_ptx_at(const void* image, unsigned compute_capability);

}  // namespace softgpu::ptx
