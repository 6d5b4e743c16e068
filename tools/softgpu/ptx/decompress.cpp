#include "tools/softgpu/ptx/decompress.hpp"

#include <lz4.h>
#include <zstd.h>

namespace softgpu::ptx {
namespace {

// No PTX is larger; a damaged header must not cost more memory than this.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;

}  // namespace

std::optional<std::string> decompress_zstd(std::span<const std::uint8_t> bytes, std::uint64_t size) {
  if (size > kMaxBytes) return std::nullopt;
  std::string text(size, '\0');
  const std::size_t written = ZSTD_decompress(text.data(), text.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(written) != 0 || written != size) return std::nullopt;
  return text;
}

std::optional<std::string> decompress_lz4(std::span<const std::uint8_t> bytes, std::uint64_t size) {
  if (size > kMaxBytes || bytes.size() > kMaxBytes) return std::nullopt;
  std::string text(size, '\0');
  const int written = LZ4_decompress_safe(reinterpret_cast<const char*>(bytes.data()), text.data(),
                                          static_cast<int>(bytes.size()), static_cast<int>(size));
  if (written < 0 || static_cast<std::uint64_t>(written) != size) return std::nullopt;
  return text;
}

}  // namespace softgpu::ptx
