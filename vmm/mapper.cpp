#include "vmm/mapper.hpp"

#include <algorithm>

namespace tencache::vmm {

void Mapper::apply(std::span<MappingChange> changes) {
  std::vector<MappingChange*> mapped;
  for (MappingChange& change : changes) {
    remap(change);
    if (change.mapped) mapped.push_back(&change);
  }
  std::sort(mapped.begin(), mapped.end(),
            [](const auto* a, const auto* b) { return a->address < b->address; });
  for (auto first = mapped.begin(); first != mapped.end();) {
    auto last = first + 1;
    while (last != mapped.end() && (*(last - 1))->address + (*(last - 1))->size.count() == (*last)->address)
      ++last;
    give_access({first, last});
    first = last;
  }
}

void Mapper::remap(MappingChange& change) {
  if (change.mapped) {
    change.result = driver_.cuMemUnmap(change.address, change.size.count());
    count(statistics_.mapping_calls);
    if (change.result != CUDA_SUCCESS) return;
    change.mapped = false;
  }
  if (change.block == nullptr) return;
  change.result = driver_.cuMemMap(change.address, change.size.count(), 0, change.block->handle, 0);
  count(statistics_.mapping_calls);
  change.mapped = change.result == CUDA_SUCCESS;
}

void Mapper::give_access(std::span<MappingChange*> run) {
  Bytes size;
  for (const MappingChange* change : run) size += change->size;
  const CUresult result = set_access(driver_, run.front()->address, size, device_);
  count(statistics_.mapping_calls);
  if (result == CUDA_SUCCESS) return;
  for (MappingChange* change : run) {
    driver_.cuMemUnmap(change->address, change->size.count());
    change->mapped = false;
    change->result = result;
  }
}

}  // namespace tencache::vmm
