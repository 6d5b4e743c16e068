#include "vmm/arena.hpp"

#include <vector>

#include "vmm/block_source.hpp"

namespace tencache::vmm {

namespace {

constexpr int kMostNodes = 16;

std::vector<CUmemLocation> candidates(const Driver& driver, CUdevice device) {
  std::vector<CUmemLocation> locations{{CU_MEM_LOCATION_TYPE_HOST, {0}}};
  int own = -1;
  if (driver.cuDeviceGetAttribute(&own, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, device) != CUDA_SUCCESS) own = -1;
  if (own >= 0) locations.push_back({CU_MEM_LOCATION_TYPE_HOST_NUMA, {own}});
  for (int node = 0; node < kMostNodes; ++node) {
    if (node != own) locations.push_back({CU_MEM_LOCATION_TYPE_HOST_NUMA, {node}});
  }
  return locations;
}

// The device writes through the mapping and reads back what it wrote.
bool touches(const Driver& driver, const Block& block) {
  constexpr unsigned char kPattern = 0xa5;
  unsigned char read = 0;
  if (driver.cuMemsetD8_v2(block.address, kPattern, block.size.count()) != CUDA_SUCCESS) return false;
  if (driver.cuMemcpyDtoH_v2(&read, block.address + block.size.count() - 1, 1) != CUDA_SUCCESS) return false;
  return read == kPattern;
}

}  // namespace

Result<ReservedRange> reserve_range(const Driver& driver, Bytes most, Bytes least) {
  for (Bytes size = most; size >= least; size = size / 2) {
    ReservedRange range{0, size};
    if (driver.cuMemAddressReserve(&range.base, size.count(), 0, 0, 0) == CUDA_SUCCESS) return range;
  }
  return Status(StatusCode::kNotSupported, "the driver grants no address range");
}

Result<CUmemLocation> probe_host_location(const Driver& driver, CUdevice device, Bytes granularity) {
  const Result<ReservedRange> window = reserve_range(driver, granularity, granularity);
  if (!window.ok()) return window.status();
  std::optional<CUmemLocation> found;
  for (const CUmemLocation& location : candidates(driver, device)) {
    RangeAllocator range(window->base, granularity);
    VmmBlockSource source(driver, location, device, granularity, &range);
    Result<Block> block = source.create(granularity);
    if (!block.ok()) continue;
    if (touches(driver, *block)) found = location;
    source.destroy(*block);
    if (found) break;
  }
  driver.cuMemAddressFree(window->base, window->size.count());
  if (found) return *found;
  return Status(StatusCode::kNotSupported, "the driver maps no host memory at device addresses");
}

}  // namespace tencache::vmm
