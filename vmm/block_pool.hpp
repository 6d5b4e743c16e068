// The blocks of one tier of one device: made when first needed, pooled, reused; in a steady state nothing is
// created. Blocks come in two sizes; free ones of the other size are given up when that makes the room.
// Called by the engine. Thread rule: the engine's thread alone, except the read-only figures (atomics).
// Failure rule: `take` answers null when the tier has no room; a driver that refuses a block below the budget
// lowers the budget to what it granted.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "src/base/statistics.hpp"
#include "vmm/block_source.hpp"

namespace tencache::vmm {

class BlockPool {
 public:
  struct Sizes {
    Bytes small;
    Bytes large;
  };
  BlockPool(std::unique_ptr<BlockSource> source, Sizes sizes, Bytes budget, Statistics& statistics);
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  [[nodiscard]] Block* take(Bytes size);
  void give_back(Block* block);

  // Lowers or raises what the tier may hold; free blocks above it go back to the driver.
  void set_budget(Bytes budget);
  [[nodiscard]] Bytes budget() const { return Bytes(budget_.load(std::memory_order_relaxed)); }
  [[nodiscard]] Bytes in_use() const { return Bytes(in_use_.load(std::memory_order_relaxed)); }
  [[nodiscard]] Bytes created() const { return Bytes(created_.load(std::memory_order_relaxed)); }
  // Blocks given out so far.
  [[nodiscard]] std::uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }
  // All free blocks go back to the driver.
  void give_up_free();
  // Room for blocks not in use now; 0 when a lowered budget is exceeded.
  [[nodiscard]] Bytes available() const;

 private:
  [[nodiscard]] std::vector<Block*>& free_list(Bytes size);
  Block* create(Bytes size);
  bool destroy_one(std::vector<Block*>& list);
  void make_room(Bytes size);

  std::unique_ptr<BlockSource> source_;
  Sizes sizes_;
  std::atomic<std::uint64_t> budget_;
  std::atomic<std::uint64_t> created_{0};
  std::atomic<std::uint64_t> in_use_{0};
  std::atomic<std::uint64_t> taken_{0};
  std::deque<Block> blocks_;    // stable addresses
  std::vector<Block*> unused_;  // records of destroyed blocks
  std::vector<Block*> free_small_;
  std::vector<Block*> free_large_;
  Statistics& statistics_;
};

}  // namespace tencache::vmm
