#include "vmm/block_pool.hpp"

namespace tencache::vmm {

BlockPool::BlockPool(std::unique_ptr<BlockSource> source, Sizes sizes, Bytes budget, Statistics& statistics)
    : source_(std::move(source)), sizes_(sizes), budget_(budget.count()), statistics_(statistics) {}

BlockPool::~BlockPool() { give_up_free(); }

void BlockPool::give_up_free() {
  while (destroy_one(free_small_) || destroy_one(free_large_)) {
  }
}

std::vector<Block*>& BlockPool::free_list(Bytes size) {
  return size == sizes_.large ? free_large_ : free_small_;
}

Bytes BlockPool::available() const {
  const Bytes limit = budget();
  const Bytes used = in_use();
  return used < limit ? limit - used : Bytes();
}

Block* BlockPool::take(Bytes size) {
  if (available() < size) return nullptr;
  std::vector<Block*>& list = free_list(size);
  Block* block = nullptr;
  if (list.empty()) {
    make_room(size);
    block = create(size);
    if (block == nullptr) return nullptr;
  } else {
    block = list.back();
    list.pop_back();
  }
  in_use_ += size.count();
  ++taken_;
  return block;
}

void BlockPool::give_back(Block* block) {
  in_use_ -= block->size.count();
  free_list(block->size).push_back(block);
  if (created() > budget()) set_budget(budget());
}

void BlockPool::set_budget(Bytes budget) {
  budget_ = budget.count();
  while (created() > budget && (destroy_one(free_large_) || destroy_one(free_small_))) {
  }
}

void BlockPool::make_room(Bytes size) {
  std::vector<Block*>& other = size == sizes_.large ? free_small_ : free_large_;
  while (created() + size > budget() && destroy_one(other)) {
  }
}

Block* BlockPool::create(Bytes size) {
  if (created() + size > budget()) return nullptr;
  Result<Block> made = source_->create(size);
  if (!made.ok()) {
    count(statistics_.blocks_refused);
    budget_ = created().count();
    return nullptr;
  }
  Block* block = nullptr;
  if (unused_.empty()) {
    block = &blocks_.emplace_back(*made);
  } else {
    block = unused_.back();
    unused_.pop_back();
    *block = *made;
  }
  created_ += size.count();
  count(statistics_.blocks_created);
  return block;
}

bool BlockPool::destroy_one(std::vector<Block*>& list) {
  if (list.empty()) return false;
  Block* block = list.back();
  list.pop_back();
  source_->destroy(*block);
  created_ -= block->size.count();
  unused_.push_back(block);
  return true;
}

}  // namespace tencache::vmm
