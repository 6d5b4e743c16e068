#include "src/runtime/host_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace tencache::runtime {

namespace {

// The first number of a small file; `most` where there is none ("max").
std::uint64_t number_in(const char* path, std::uint64_t most) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return most;
  std::array<char, 64> text{};
  const ssize_t length = read(file, text.data(), text.size());
  close(file);
  std::uint64_t value = most;
  if (length > 0) std::from_chars(text.data(), text.data() + length, value);
  return value;
}

}  // namespace

Bytes host_memory() {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t machine = pages * page;
  const std::uint64_t version2 = number_in("/sys/fs/cgroup/memory.max", machine);
  const std::uint64_t version1 = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes", machine);
  return Bytes(std::min({machine, version2, version1}));
}

}  // namespace tencache::runtime
