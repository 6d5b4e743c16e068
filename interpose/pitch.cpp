#include "interpose/pitch.hpp"

#include <array>
#include <atomic>

#include "interpose/genuine_driver.hpp"

namespace tencache::doors {

namespace {

constexpr std::size_t kElementSizes = 3;  // 4, 8 and 16 bytes: what the driver takes
std::array<std::atomic<std::size_t>, kElementSizes> granularities{};

std::size_t ask(const Visit& visit, const Genuine<decltype(&::cuMemAllocPitch_v2)>& driver,
                unsigned element_size) noexcept {
  CUdeviceptr address = 0;
  std::size_t pitch = 0;
  const auto call = [&] { return driver(&address, &pitch, element_size, 1, element_size); };
  if (visit.with_room(call) != CUDA_SUCCESS) return 0;
  genuine<decltype(&::cuMemFree_v2)>(interpose::EntryIndex::cuMemFree_v2, DefaultStream::kLegacy,
                                     nullptr)(address);
  return pitch;
}

}  // namespace

std::size_t pitch_of_driver(const Visit& visit, const Genuine<decltype(&::cuMemAllocPitch_v2)>& driver,
                            std::size_t width, unsigned element_size) noexcept {
  if (element_size != 4 && element_size != 8 && element_size != 16) return 0;
  std::atomic<std::size_t>& known = granularities[static_cast<std::size_t>(__builtin_ctz(element_size)) - 2];
  std::size_t granularity = known.load(std::memory_order_relaxed);
  if (granularity == 0)
    known.store(granularity = ask(visit, driver, element_size), std::memory_order_relaxed);
  std::size_t padded = 0;
  if (granularity == 0 || __builtin_add_overflow(width, granularity - 1, &padded)) return 0;
  return padded / granularity * granularity;
}

}  // namespace tencache::doors
