// What a plan wants copied out, soonest due first. An extent stands in it at most once. Called by the
// learning policy. Thread rule: one caller at a time. Failure rule: none.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "policy/policy.hpp"

namespace tencache::policy {

class CleaningQueue {
 public:
  void resize(std::size_t extents) {
    due_.resize(extents, kNone);
    heap_.reserve(2 * extents);
    put_off_.reserve(2 * extents);
  }
  // An extent has been touched: what was due of it counts no more, until it is put in anew.
  void remove(ExtentIndex extent) { due_[extent] = kNone; }
  void put(ExtentIndex extent, std::uint64_t due) {
    due_[extent] = due;
    if (heap_.size() == heap_.capacity()) sweep();
    push({due, extent});
  }
  // The soonest due; it stays in the queue by put_off() and put_back() alone.
  std::optional<ExtentIndex> take() {
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      taken_ = heap_.back();
      heap_.pop_back();
      if (due_[taken_.extent] == taken_.due) return taken_.extent;
    }
    return std::nullopt;
  }
  // What was taken last cannot be copied now: aside with it until put_back().
  void put_off() { put_off_.push_back(taken_); }
  void put_back() {
    for (const Entry& entry : put_off_) push(entry);
    put_off_.clear();
  }
  void clear() {
    heap_.clear();
    put_off_.clear();
    std::fill(due_.begin(), due_.end(), kNone);
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  struct Entry {
    std::uint64_t due;
    ExtentIndex extent;
    bool operator>(const Entry& other) const { return due > other.due; }
  };
  void push(const Entry& entry) {
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  void sweep() {
    std::erase_if(heap_, [this](const Entry& entry) { return due_[entry.extent] != entry.due; });
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  std::vector<std::uint64_t> due_;  // per extent, what counts
  std::vector<Entry> heap_, put_off_;
  Entry taken_{};
};

}  // namespace tencache::policy
