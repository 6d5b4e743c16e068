#include "vmm/block_source.hpp"

namespace tencache::vmm {

CUresult set_access(const Driver& driver, CUdeviceptr address, Bytes size, CUdevice device) {
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return driver.cuMemSetAccess(address, size.count(), &access, 1);
}

VmmBlockSource::VmmBlockSource(const Driver& driver, CUmemLocation location, CUdevice device,
                               Bytes granularity, RangeAllocator* window)
    : driver_(driver), location_(location), device_(device), granularity_(granularity), window_(window) {}

Result<Block> VmmBlockSource::create(Bytes size) {
  Block block{.size = size};
  block.address = window_->take(size, granularity_);
  if (block.address == 0) return Status(StatusCode::kOutOfMemory, "no address range left for a block");
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = location_;
  const CUresult created = driver_.cuMemCreate(&block.handle, size.count(), &properties, 0);
  if (created != CUDA_SUCCESS) {
    window_->give_back(block.address, size);
    return Status(created == CUDA_ERROR_OUT_OF_MEMORY ? StatusCode::kOutOfMemory : StatusCode::kDriverFailed,
                  "a block cannot be created", created);
  }
  if (const Status mapped = map_alias(block); !mapped.ok()) {
    driver_.cuMemRelease(block.handle);
    window_->give_back(block.address, size);
    return mapped;
  }
  return block;
}

Status VmmBlockSource::map_alias(const Block& block) const {
  CUresult result = driver_.cuMemMap(block.address, block.size.count(), 0, block.handle, 0);
  if (result != CUDA_SUCCESS) return {StatusCode::kDriverFailed, "a block cannot be mapped", result};
  result = set_access(driver_, block.address, block.size, device_);
  if (result == CUDA_SUCCESS) return {};
  driver_.cuMemUnmap(block.address, block.size.count());
  return {StatusCode::kDriverFailed, "the device gets no access to a block", result};
}

void VmmBlockSource::destroy(const Block& block) {
  driver_.cuMemUnmap(block.address, block.size.count());
  driver_.cuMemRelease(block.handle);
  window_->give_back(block.address, block.size);
}

Result<Block> PinnedBlockSource::create(Bytes size) {
  void* memory = nullptr;
  const CUresult result = driver_.cuMemHostAlloc(&memory, size.count(), CU_MEMHOSTALLOC_PORTABLE);
  if (result != CUDA_SUCCESS) {
    return Status(StatusCode::kOutOfMemory, "pinned host memory cannot be had", result);
  }
  return Block{.handle = 0, .address = reinterpret_cast<CUdeviceptr>(memory), .size = size};
}

void PinnedBlockSource::destroy(const Block& block) {
  driver_.cuMemFreeHost(reinterpret_cast<void*>(block.address));
}

}  // namespace tencache::vmm
