// Memory of frames, kept between launches: fresh pages cost more than a short kernel. Thread rule: any
// thread. Failure rule: none but the allocator's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softgpu::engine {

// Returns memory aligned to 64 bytes, contents undefined, to be given back with the same size.
std::uint8_t* take_buffer(std::size_t bytes);
void give_back_buffer(std::uint8_t* buffer, std::size_t bytes);

}  // namespace softgpu::engine
