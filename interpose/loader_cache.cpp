// Reads the loader's cache (/etc/ld.so.cache, the format of glibc 2.2 and later, alone or behind the older
// one). Every offset in it is checked against the file's size: the file is not ours.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "interpose/find_driver.hpp"

namespace tencache::interpose {

namespace {

constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr std::string_view kOldMagic = "ld.so-1.7.0";
constexpr std::int32_t kX8664Library = 0x0303;  // ELF for this libc, x86-64

struct Header {
  char magic[20];
  std::uint32_t entry_count;
  std::uint32_t strings_size;
  std::uint32_t unused[5];
};

struct Entry {
  std::int32_t flags;
  std::uint32_t name;  // both: offsets of strings from the header
  std::uint32_t path;
  std::uint32_t os_version;
  std::uint64_t hardware;
};

struct OldHeader {
  char magic[12];
  std::uint32_t entry_count;
};
constexpr std::size_t kOldEntrySize = 12;

class MappedFile {
 public:
  explicit MappedFile(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat status {};
    if (fstat(file, &status) == 0 && status.st_size > 0) map(file, static_cast<std::size_t>(status.st_size));
    close(file);
  }
  ~MappedFile() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  void map(int file, std::size_t size) {
    void* const start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (start != MAP_FAILED) bytes_ = {static_cast<const char*>(start), size};
  }
  std::string_view bytes_;
};

template <class T>
bool read_at(std::string_view bytes, std::size_t offset, T* value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(value, bytes.data() + offset, sizeof(T));
  return true;
}

// Empty where the offset is wrong or the string does not end.
std::string_view string_at(std::string_view bytes, std::size_t offset) {
  if (offset >= bytes.size()) return {};
  const std::size_t end = bytes.find('\0', offset);
  return end == std::string_view::npos ? std::string_view{} : bytes.substr(offset, end - offset);
}

// The part of the file that begins with the header of the format read here.
std::string_view current_format(std::string_view bytes) {
  OldHeader old{};
  if (bytes.starts_with(kOldMagic) && read_at(bytes, 0, &old)) {
    std::size_t offset = sizeof(OldHeader) + kOldEntrySize * std::size_t{old.entry_count};
    offset = (offset + 7) / 8 * 8;
    bytes = offset < bytes.size() ? bytes.substr(offset) : std::string_view{};
  }
  return bytes.starts_with(kMagic) ? bytes : std::string_view{};
}

}  // namespace

bool find_in_loader_cache(const char* cache_file, const char* soname, const Visitor& visitor) noexcept {
  if (cache_file == nullptr) return false;
  const MappedFile file(cache_file);
  const std::string_view bytes = current_format(file.bytes());
  Header header{};
  if (!read_at(bytes, 0, &header)) return false;
  for (std::size_t i = 0; i < header.entry_count; ++i) {
    Entry entry{};
    if (!read_at(bytes, sizeof(Header) + i * sizeof(Entry), &entry)) return false;
    if (entry.flags != kX8664Library || string_at(bytes, entry.name) != soname) continue;
    const std::string_view path = string_at(bytes, entry.path);
    if (!path.empty() && visitor.accept(visitor.context, path.data())) return true;
  }
  return false;
}

}  // namespace tencache::interpose
