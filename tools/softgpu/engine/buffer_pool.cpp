#include "tools/softgpu/engine/buffer_pool.hpp"

#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace softgpu::engine {
namespace {

constexpr std::size_t kKept = std::size_t{64} << 20;
constexpr std::align_val_t kAlign{64};

struct Pool {
  std::mutex mutex;
  std::map<std::size_t, std::vector<std::uint8_t*>> by_size;
  std::size_t held = 0;
};
Pool& pool() {
  static Pool* const kPool = new Pool;  // outlives every thread
  return *kPool;
}

}  // namespace

std::uint8_t* take_buffer(std::size_t bytes) {
  Pool& p = pool();
  {
    const std::lock_guard lock(p.mutex);
    const auto at = p.by_size.find(bytes);
    if (at != p.by_size.end() && !at->second.empty()) {
      std::uint8_t* buffer = at->second.back();
      at->second.pop_back();
      p.held -= bytes;
      return buffer;
    }
  }
  return static_cast<std::uint8_t*>(::operator new(bytes, kAlign));
}
void give_back_buffer(std::uint8_t* buffer, std::size_t bytes) {
  Pool& p = pool();
  {
    const std::lock_guard lock(p.mutex);
    if (p.held + bytes <= kKept) {
      p.by_size[bytes].push_back(buffer);
      p.held += bytes;
      return;
    }
  }
  ::operator delete(buffer, kAlign);
}

}  // namespace softgpu::engine
