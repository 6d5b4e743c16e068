// The pitch that the driver itself would give, so that a managed pitched allocation has rows as wide. Called
// by the door of cuMemAllocPitch. Thread rule: from any thread. Failure rule: 0 when the driver does not
// answer.
#pragma once

#include <cuda.h>

#include <cstddef>

#include "interpose/genuine.hpp"
#include "interpose/visit.hpp"

namespace tencache::doors {

// The driver is asked once per element size, with a row of one element.
std::size_t pitch_of_driver(const Visit& visit, const Genuine<decltype(&::cuMemAllocPitch_v2)>& driver,
                            std::size_t width, unsigned element_size) noexcept;

}  // namespace tencache::doors
