// The doors linked into the test, between a driver that counts (the stub's functions, some replaced by the
// test's own) and a runtime that records. Used by the doors_*_test files. Thread rule: one thread. Failure
// rule: a symbol that is not there stops the test.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "interpose/genuine_driver.hpp"
#include "src/runtime/runtime.hpp"
#include "tests/interpose/stub_driver.hpp"

namespace doors_test {

using tencache::Bytes;
namespace runtime = tencache::runtime;

inline constexpr CUdeviceptr kArena = 0x700000000000;
inline constexpr std::uint64_t kArenaSize = std::uint64_t{1} << 40;
inline const auto kStream = reinterpret_cast<CUstream>(0x5000);

inline unsigned calls(const char* symbol) { return stub_calls(symbol); }

// An access as it was told, with its own copy of the pointers.
struct Seen {
  runtime::Access access;
  std::vector<CUdeviceptr> pointers;
};

class RecordingRuntime final : public runtime::Runtime {
 public:
  runtime::Arena arena() const noexcept override { return {kArena, kArenaSize}; }
  Verdict allocate(const runtime::AllocationRequest& request, CUdeviceptr* address,
                   CUresult* result) noexcept override {
    requests.push_back(request);
    if (verdict == Verdict::kAnswered) {
      *result = allocation_result;
      if (allocation_result == CUDA_SUCCESS) *address = kArena;
    }
    return verdict;
  }
  Verdict free_sync(CUdeviceptr address, CUresult* result) noexcept override { return free(address, result); }
  Verdict free_in_capture(CUdeviceptr address, CUresult* result) noexcept override {
    ++freed_in_capture;
    return free(address, result);
  }
  Verdict free_async(CUdeviceptr address, runtime::Stream stream, CUresult* result) noexcept override {
    free_streams.push_back(stream.handle);
    return free(address, result);
  }
  void pool_created(CUmemoryPool pool, const CUmemPoolProps&) noexcept override {
    pool_events.push_back({"created", pool});
  }
  void pool_destroyed(CUmemoryPool pool) noexcept override { pool_events.push_back({"destroyed", pool}); }
  void pool_shared(CUmemoryPool pool, std::span<const CUmemAccessDesc>) noexcept override {
    pool_events.push_back({"shared", pool});
  }
  void pool_trimmed(CUmemoryPool pool) noexcept override { pool_events.push_back({"trimmed", pool}); }
  void pools_changed() noexcept override { pool_events.push_back({"changed", nullptr}); }
  void pool_attribute_set(CUmemoryPool pool, CUmemPool_attribute) noexcept override {
    pool_events.push_back({"set", pool});
  }
  void add_pool_use(CUmemoryPool, CUmemPool_attribute, void* value) noexcept override {
    *static_cast<cuuint64_t*>(value) += 1000;
  }
  runtime::Admission before(const runtime::Access& access) noexcept override {
    seen.push_back({access, {access.pointers.begin(), access.pointers.end()}});
    if (on_before) on_before(access);
    return admission;
  }
  void after(const runtime::Access&, std::uint64_t ticket, CUresult result) noexcept override {
    tickets.push_back(ticket);
    results.push_back(result);
  }
  runtime::Passage enter_light(runtime::Stream, std::span<const CUdeviceptr>) noexcept override {
    entered_light += lets_in_light ? 1 : 0;
    return {lets_in_light ? this : nullptr};
  }
  void left_light(runtime::Passage) noexcept override { ++left_light_calls; }
  bool freeze(CUdeviceptr address) noexcept override {
    frozen.push_back(address);
    return can_freeze;
  }
  std::uint64_t hold(CUdeviceptr address) noexcept override {
    held.push_back(address);
    return address + 1;
  }
  void hold_until_freed(CUdeviceptr address) noexcept override { held_until_freed.push_back(address); }
  void let_go(CUdeviceptr address, std::uint64_t hold) noexcept override {
    EXPECT_EQ(hold, address + 1);
    let_go_of.push_back(address);
  }
  bool make_room_for_pass_through(Bytes wanted) noexcept override {
    room_wanted = wanted;
    inside_at_room = entered_light - left_light_calls;
    ++rooms_made;
    return can_make_room;
  }
  void stream_synchronized(runtime::Stream stream) noexcept override {
    synchronized.push_back(stream.handle);
  }
  void context_synchronized() noexcept override { ++contexts_synchronized; }
  void synchronization_failed(CUresult result) noexcept override { failures.push_back(result); }
  void stream_about_to_be_destroyed(CUstream stream) noexcept override { destroyed.push_back(stream); }
  void context_about_to_be_destroyed(CUcontext context) noexcept override {
    contexts_destroyed.push_back({context, calls("cuCtxDestroy_v2")});
  }
  void capture_begins(runtime::Stream stream) noexcept override { captured.push_back(stream.handle); }
  void capture_has_begun() noexcept override { ++captures_begun; }
  void primary_context_may_go(CUdevice device) noexcept override {
    primaries.push_back({device, "may go", calls("cuDevicePrimaryCtxReset_v2")});
  }
  void primary_context_stays(CUdevice device) noexcept override {
    primaries.push_back({device, "stays", calls("cuDevicePrimaryCtxReset_v2")});
  }
  void primary_context_is_gone(CUdevice device) noexcept override {
    primaries.push_back({device, "is gone", calls("cuDevicePrimaryCtxReset_v2")});
  }
  bool memory_info(std::size_t* free_bytes, std::size_t* total_bytes) noexcept override {
    if (free_bytes != nullptr) *free_bytes = 100;
    if (total_bytes != nullptr) *total_bytes = 200;
    return answers_queries;
  }
  bool address_range(CUdeviceptr address, CUdeviceptr*, std::size_t*) noexcept override {
    return address - kArena < kArenaSize;
  }
  bool pointer_attribute(void* data, CUpointer_attribute, CUdeviceptr address,
                         CUresult* result) noexcept override {
    if (address - kArena >= kArenaSize) return false;
    *static_cast<unsigned*>(data) = 42;
    *result = attribute_result;
    return true;
  }
  bool set_pointer_attribute(const void*, CUpointer_attribute, CUdeviceptr address,
                             CUresult* result) noexcept override {
    *result = attribute_result;
    return address - kArena < kArenaSize;
  }
  [[nodiscard]] unsigned kept_context_flags() const noexcept override { return kept_flags; }
  void go_passive() noexcept override { ++passive; }
  void print_summary() noexcept override {}

  std::vector<runtime::AllocationRequest> requests;
  std::vector<CUdeviceptr> freed;
  std::vector<CUstream> free_streams;
  std::vector<Seen> seen;
  std::vector<std::uint64_t> tickets;
  std::vector<CUresult> results;
  std::vector<CUstream> synchronized;
  std::vector<CUresult> failures;
  std::vector<CUstream> destroyed;
  struct Primary {
    CUdevice device;
    std::string_view event;
    unsigned resets;  // that had reached the driver
    bool operator==(const Primary&) const = default;
  };
  std::vector<Primary> primaries;
  std::vector<std::pair<CUcontext, unsigned>> contexts_destroyed;  // and how many the driver had been told of
  std::vector<CUstream> captured;
  std::vector<std::pair<std::string, CUmemoryPool>> pool_events;
  std::vector<CUdeviceptr> frozen;
  std::vector<CUdeviceptr> held;
  std::vector<CUdeviceptr> held_until_freed;
  std::vector<CUdeviceptr> let_go_of;
  bool can_freeze = true;
  unsigned captures_begun = 0;
  unsigned freed_in_capture = 0;
  std::function<void(const runtime::Access&)> on_before;
  Verdict verdict = Verdict::kAnswered;
  CUresult allocation_result = CUDA_SUCCESS;
  CUresult attribute_result = CUDA_SUCCESS;
  unsigned kept_flags = 0;
  runtime::Admission admission{true, CUDA_SUCCESS, 7};
  bool can_make_room = false;
  bool lets_in_light = false;
  unsigned entered_light = 0;
  unsigned left_light_calls = 0;
  unsigned inside_at_room = 0;
  bool answers_queries = true;
  unsigned rooms_made = 0;
  Bytes room_wanted;
  unsigned contexts_synchronized = 0;
  unsigned passive = 0;

 private:
  Verdict free(CUdeviceptr address, CUresult* result) {
    if (address - kArena >= kArenaSize) return Verdict::kNotOurs;
    freed.push_back(address);
    *result = CUDA_SUCCESS;
    return Verdict::kAnswered;
  }
};

// The one that cuInit starts; recorded facts are cleared before each test.
RecordingRuntime& the_runtime();

// The test's own function in the driver's place, to be set before the first door is used.
void replace(const char* symbol, void* function);

// Makes the doors' driver of the stub's functions and those replaced.
void adopt_test_driver();

template <class Function>
Function* door(const char* symbol) {
  void* const address = tencache::interpose::entry_point(symbol);
  if (address == nullptr) std::abort();
  return reinterpret_cast<Function*>(address);
}
#define DOOR(symbol) doors_test::door<decltype(symbol)>(#symbol)

class DoorsTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
};

}  // namespace doors_test
