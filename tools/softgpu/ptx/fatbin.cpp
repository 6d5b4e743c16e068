#include "tools/softgpu/ptx/fatbin.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/softgpu/ptx/decompress.hpp"

namespace softgpu::ptx {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kFatBinaryMagic = 0xba55ed50;

struct Wrapper {
  std::uint32_t magic, version;
  std::uint64_t data, list;
};
struct FatBinaryHeader {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;  // of the entries that follow
};
struct Entry {
  static constexpr std::uint16_t kPtx = 1, kCubin = 2;
  static constexpr std::uint64_t kLz4 = 0x2000, kZstd = 0x8000;
  static constexpr std::uint64_t kThisArchitectureOnly = 0x100000;  // compute_90a
  static constexpr std::uint64_t kThisFamilyOnly = 0x200000;        // compute_100f
  std::uint16_t kind, unused;
  std::uint32_t header_bytes;
  std::uint64_t payload_bytes;  // padded
  std::uint32_t compressed_bytes, options_offset, version, architecture;
  std::uint64_t unused2, flags, unused3, uncompressed_bytes;
};
static_assert(sizeof(Entry) == 64);

struct PlacedEntry {
  Entry header;
  Bytes payload;
};

template <class T>
std::optional<T> read(Bytes bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

ImageKind kind_of(Bytes image) {
  const auto magic = read<std::uint32_t>(image, 0);
  if (magic == kWrapperMagic) return ImageKind::kWrapper;
  if (magic == kFatBinaryMagic) return ImageKind::kFatBinary;
  if (magic && std::memcmp(image.data(), ELFMAG, SELFMAG) == 0) return ImageKind::kCubin;
  // PTX begins with a directive, a comment or white space.
  const bool is_text = !image.empty() && std::string_view("./ \t\r\n").find(static_cast<char>(image[0])) !=
                                             std::string_view::npos;
  return is_text ? ImageKind::kText : ImageKind::kUnknown;
}

PtxImage failure(PtxImage::Status status, std::string what) { return {status, {}, 0, std::move(what)}; }
PtxImage corrupt(std::string what) { return failure(PtxImage::Status::kCorrupt, std::move(what)); }

// Nothing where the chain of headers leaves the image.
std::optional<std::vector<PlacedEntry>> list_entries(Bytes image) {
  const auto header = read<FatBinaryHeader>(image, 0);
  if (!header || header->header_bytes < sizeof(FatBinaryHeader)) return std::nullopt;
  if (header->header_bytes > image.size() || header->bytes > image.size() - header->header_bytes)
    return std::nullopt;
  Bytes rest = image.subspan(header->header_bytes, header->bytes);
  std::vector<PlacedEntry> entries;
  while (!rest.empty()) {
    const auto entry = read<Entry>(rest, 0);
    if (!entry || entry->header_bytes < sizeof(Entry) || entry->header_bytes > rest.size())
      return std::nullopt;
    rest = rest.subspan(entry->header_bytes);
    if (entry->payload_bytes > rest.size()) return std::nullopt;
    entries.push_back({*entry, rest.first(entry->payload_bytes)});
    rest = rest.subspan(entry->payload_bytes);
  }
  return entries;
}

bool runs_on(const Entry& entry, unsigned compute_capability) {
  if ((entry.flags & Entry::kThisArchitectureOnly) != 0) return entry.architecture == compute_capability;
  if (entry.architecture > compute_capability) return false;
  return (entry.flags & Entry::kThisFamilyOnly) == 0 || entry.architecture / 10 == compute_capability / 10;
}

std::string describe_entries(const std::vector<PlacedEntry>& entries) {
  std::string text;
  for (const PlacedEntry& entry : entries) {
    const bool is_ptx = entry.header.kind == Entry::kPtx;
    text += fmt::format("{}{}_{}", text.empty() ? "" : ", ", is_ptx ? "compute" : "sm",
                        entry.header.architecture);
  }
  return text.empty() ? "nothing" : text;
}

std::string without_final_nuls(std::string text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

PtxImage unpack(const PlacedEntry& entry) {
  const Entry& header = entry.header;
  std::optional<std::string> text;
  if (header.compressed_bytes == 0) {
    text.emplace(entry.payload.begin(), entry.payload.end());
  } else if (header.compressed_bytes <= entry.payload.size()) {
    const Bytes payload = entry.payload.first(header.compressed_bytes);
    if ((header.flags & Entry::kZstd) != 0) text = decompress_zstd(payload, header.uncompressed_bytes);
    if ((header.flags & Entry::kLz4) != 0) text = decompress_lz4(payload, header.uncompressed_bytes);
  }
  if (!text) return corrupt(fmt::format("the PTX for compute_{} cannot be unpacked", header.architecture));
  return {PtxImage::Status::kFound, without_final_nuls(std::move(*text)), header.architecture, {}};
}

PtxImage choose_from_fat_binary(Bytes image, unsigned compute_capability) {
  const auto entries = list_entries(image);
  if (!entries) return corrupt("the fat binary's headers are damaged");
  const PlacedEntry* best = nullptr;
  for (const PlacedEntry& entry : *entries) {
    if (entry.header.kind != Entry::kPtx || !runs_on(entry.header, compute_capability)) continue;
    if (best == nullptr || entry.header.architecture > best->header.architecture) best = &entry;
  }
  if (best != nullptr) return unpack(*best);
  return failure(
      PtxImage::Status::kNoPtx,
      fmt::format("the fat binary has no PTX that a device of compute capability {}.{} can run; it holds {}",
                  compute_capability / 10, compute_capability % 10, describe_entries(*entries)));
}

std::size_t elf_bytes(const void* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, EI_NIDENT);
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return 0;
  std::memcpy(&header, image, sizeof header);
  std::uint64_t end = std::max<std::uint64_t>(
      sizeof header, header.e_phoff + std::uint64_t{header.e_phnum} * header.e_phentsize);
  end = std::max<std::uint64_t>(end, header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize);
  for (unsigned i = 0; header.e_shentsize == sizeof(Elf64_Shdr) && i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, static_cast<const std::uint8_t*>(image) + header.e_shoff + i * sizeof section,
                sizeof section);
    if (section.sh_type != SHT_NOBITS)
      end = std::max<std::uint64_t>(end, section.sh_offset + section.sh_size);
  }
  return end;
}

}  // namespace

ImageKind image_kind(const void* image) {
  const auto* bytes = static_cast<const std::uint8_t*>(image);
  // A short text ends before its fourth byte; the magics have no zero byte.
  const std::size_t readable = strnlen(static_cast<const char*>(image), 4);
  return kind_of({bytes, readable});
}

const void* unwrap(const void* image) {
  if (image_kind(image) != ImageKind::kWrapper) return image;
  Wrapper wrapper;
  std::memcpy(&wrapper, image, sizeof wrapper);
  const void* data = nullptr;
  std::memcpy(&data, &wrapper.data, sizeof data);
  return data;
}

std::size_t image_bytes(const void* image) {
  switch (image_kind(image)) {
    case ImageKind::kWrapper:
      return sizeof(Wrapper);
    case ImageKind::kFatBinary: {
      FatBinaryHeader header;
      std::memcpy(&header, image, sizeof header);
      return header.header_bytes + header.bytes;
    }
    case ImageKind::kCubin:
      return elf_bytes(image);
    case ImageKind::kText:
      return std::strlen(static_cast<const char*>(image)) + 1;
    case ImageKind::kUnknown:
      break;
  }
  return 0;
}

PtxImage choose_ptx(std::span<const std::uint8_t> image, unsigned compute_capability) {
  switch (kind_of(image)) {
    case ImageKind::kFatBinary:
      return choose_from_fat_binary(image, compute_capability);
    case ImageKind::kCubin:
      return failure(PtxImage::Status::kNoPtx, "a cubin has machine code and no PTX");
    case ImageKind::kText:
      return {PtxImage::Status::kFound, without_final_nuls({image.begin(), image.end()}), 0, {}};
    case ImageKind::kWrapper:
      return corrupt("a wrapper can only be followed in memory");
    case ImageKind::kUnknown:
      break;
  }
  return corrupt("neither a fat binary nor PTX nor a cubin");
}

PtxImage choose_ptx_at(const void* image, unsigned compute_capability) {
  const void* inner = unwrap(image);
  if (inner == nullptr) return failure(PtxImage::Status::kNoPtx, "the wrapper holds no fat binary");
  const std::size_t bytes = image_kind(inner) == ImageKind::kWrapper ? 0 : image_bytes(inner);
  return choose_ptx({static_cast<const std::uint8_t*>(inner), bytes}, compute_capability);
}

}  // namespace softgpu::ptx
