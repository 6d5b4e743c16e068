// The compressions of fat binaries. Called by fatbin.cpp. Thread rule: pure. Failure rule: nothing, unless
// the bytes unpack to exactly the size the header promised.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace softgpu::ptx {

[[nodiscard]] std::optional<std::string> decompress_zstd(std::span<const std::uint8_t> bytes,
                                                         std::uint64_t size);
[[nodiscard]] std::optional<std::string> decompress_lz4(std::span<const std::uint8_t> bytes,
                                                        std::uint64_t size);

}  // namespace softgpu::ptx
