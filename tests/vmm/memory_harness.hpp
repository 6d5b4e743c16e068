// A device memory over the fake driver, with the oldest extent as victim; and the program's side of an
// access.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <thread>

#include "src/base/statistics.hpp"
#include "tests/vmm/fake_driver.hpp"
#include "vmm/arena.hpp"
#include "vmm/device_memory.hpp"

namespace tencache::test {

// `worst`: the newest first, which is most often still in use.
class ByAge final : public vmm::Advisor {
 public:
  void extent_created(const vmm::NewExtent& extent) override { order_.push_back(extent.extent); }
  void extent_destroyed(vmm::ExtentIndex extent) override { order_.remove(extent); }
  void access(const vmm::AdvisedAccess& access) override {
    for (const vmm::ExtentIndex extent : access.will_touch) {
      order_.splice(order_.end(), order_, std::find(order_.begin(), order_.end(), extent));
    }
  }
  std::optional<vmm::ExtentIndex> victim(const vmm::MemoryView& view) override {
    std::list<vmm::ExtentIndex> order = order_;
    if (worst) order.reverse();
    for (const vmm::ExtentIndex extent : order) {
      const vmm::ExtentView seen = view.extents[extent];
      EXPECT_TRUE(seen.exists);  // every extent that it was told of
      if (seen.home == vmm::Home::kHbm && !seen.held && !seen.moving) return extent;
    }
    return std::nullopt;
  }
  bool worst = false;
  std::optional<vmm::ExtentIndex> next_fetch(const vmm::MemoryView&) override { return fetch; }
  std::optional<vmm::ExtentIndex> next_clean(const vmm::MemoryView&) override { return clean; }
  std::optional<vmm::ExtentIndex> fetch;
  std::optional<vmm::ExtentIndex> clean;

 private:
  std::list<vmm::ExtentIndex> order_;
};

inline constexpr std::uint64_t kPage = 4096;

// Goes on by itself, and by leaps.
class TestClock final : public Clock {
 public:
  [[nodiscard]] Nanoseconds now() const noexcept override { return real_.now() + leaps_.now(); }
  void advance(Nanoseconds by) noexcept { leaps_.advance(by); }

 private:
  MonotonicClock real_;
  ManualClock leaps_;
};

struct Machine {
  explicit Machine(bool detached, std::uint64_t hbm_pages = 16, std::uint64_t seed = 0, bool threaded = false,
                   vmm::Settings::Census census = vmm::Settings::Census::kLearn, bool fingerprints = true)
      : fake({.hbm = 4 * kPage * hbm_pages, .granularity = kPage, .host_vmm = true, .seed = seed}) {
    settings.hbm_budget = Bytes(kPage * hbm_pages);
    settings.host_budget = Bytes(kPage * 256);
    settings.small_block = Bytes(kPage);
    settings.large_block = Bytes(4 * kPage);
    settings.detached = detached;
    settings.census = census;
    settings.fingerprints = fingerprints;
    const auto arena = vmm::reserve_range(fake.driver(), 1_GiB, 1_GiB);
    const auto aliases = vmm::reserve_range(fake.driver(), 64_MiB, 64_MiB);
    const vmm::DeviceMemory::Parts parts{&fake.driver(), &clock, &statistics, &advisor, 0, nullptr};
    auto opened =
        vmm::DeviceMemory::open(parts, settings, {arena->base, arena->size, aliases->base, aliases->size},
                                {CU_MEM_LOCATION_TYPE_HOST, {0}});
    memory = std::move(*opened);
    if (threaded) memory->start_thread();
  }

  CUdeviceptr allocate(std::uint64_t size) {
    Result<CUdeviceptr> made = memory->allocate({Bytes(size)}, nullptr, 1);
    return made.ok() ? *made : 0;
  }
  vmm::AccessAsk kernel(CUstream stream, std::span<const CUdeviceptr> pointers) {
    vmm::AccessAsk ask;
    ask.stream = stream;
    ask.thread = 1;
    ask.may_run_from_host = true;
    ask.opaque = opaque;
    ask.pointers = pointers;
    return ask;
  }
  // One whole launch: let in, enqueued, numbered.
  Status launch(CUstream stream, std::vector<CUdeviceptr> pointers, std::vector<FakeDriver::Step> steps,
                std::uint64_t signature = 1) {
    if (!opaque && memory->enter_fast(stream, pointers)) {
      fake.launch(stream, std::move(steps));
      memory->left_fast();
      return {};
    }
    vmm::AccessAsk ask = kernel(stream, pointers);
    ask.signature = signature;
    Result<vmm::InFlight*> admitted = memory->admit(ask);
    if (!admitted.ok()) return admitted.status();
    fake.launch(stream, std::move(steps));
    memory->leave(*admitted, ask.stream);
    return {};
  }
  void turns(int count) {
    for (int i = 0; i < count; ++i) memory->turn();
  }
  // Until an access stands in line.
  void await_waiting() {
    vmm::MemoryState& state = memory->state();
    for (bool waits = false; !waits; std::this_thread::yield()) {
      const std::lock_guard<std::mutex> lock(state.mutex);
      waits = !state.waiting.empty();
    }
  }
  vmm::ExtentIndex index_at(CUdeviceptr address) {
    const vmm::MemoryState& state = memory->state();
    for (const vmm::ExtentIndex index : state.groups[state.units.group_at(address)].extents) {
      const vmm::Extent& extent = state.extents[index];
      if (address - extent.address < extent.size.count()) return index;
    }
    std::abort();
  }
  const vmm::Extent& extent_at(CUdeviceptr address) { return memory->state().extents[index_at(address)]; }

  bool opaque = false;  // every kernel may touch anything
  FakeDriver fake;
  TestClock clock;
  Statistics statistics;
  ByAge advisor;
  vmm::Settings settings;
  std::unique_ptr<vmm::DeviceMemory> memory;
};

// Lets GPU work happen in the background, as a GPU does.
class Gpu {
 public:
  explicit Gpu(FakeDriver& fake)
      : thread_([this, &fake] {
          while (!stop_) {
            fake.run_everything();
            std::this_thread::yield();
          }
          fake.run_everything();
        }) {}
  ~Gpu() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

inline FakeDriver::Step store(CUdeviceptr address, std::uint32_t value) {
  return [=](FakeDriver& gpu) { gpu.store(address, value); };
}
inline FakeDriver::Step expect(CUdeviceptr address, std::uint32_t value) {
  return [=](FakeDriver& gpu) { EXPECT_EQ(gpu.load(address), value); };
}

}  // namespace tencache::test
