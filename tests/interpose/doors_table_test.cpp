// Every form of every row of the table that has a door, called with all arguments 0: which function of the
// driver it comes to, as whose stream, and what becomes of an out of memory. The other doors_*_test files say
// what each door makes of its arguments.
#include <algorithm>
#include <atomic>
#include <set>
#include <string_view>

#include "interpose/visit.hpp"
#include "tests/interpose/door_calls.hpp"
#include "tests/interpose/doors_fixture.hpp"

namespace {

using doors_test::calls;
using doors_test::DoorCall;
using doors_test::Handled;
using doors_test::kStream;
using doors_test::the_runtime;
using Doors = doors_test::DoorsTest;

CUresult call(const DoorCall& form, CUstream stream = nullptr) {
  return form.call(tencache::interpose::entry_point(form.symbol), stream);
}

// How many calls came to the form's own function, and how many to any.
class Count {
 public:
  explicit Count(const DoorCall& form) : symbol_(form.symbol) {}
  // A handler may ask the driver questions besides.
  void expect_own(unsigned own) const { EXPECT_EQ(calls(symbol_) - own_, own) << symbol_; }
  void expect(unsigned own) const {
    expect_own(own);
    EXPECT_EQ(stub_all_calls() - all_, own) << symbol_;
  }

 private:
  const char* symbol_;
  unsigned own_ = calls(symbol_);
  unsigned all_ = stub_all_calls();
};

CUstream default_stream(const DoorCall& form) {
  return form.per_thread_default_stream ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
}

// Those that are not the driver's to answer, whatever the arguments.
bool is_answered_here(std::string_view symbol) {
  static const std::set<std::string_view> kAnswered{"cuInit", "cuGetProcAddress", "cuGetProcAddress_v2",
                                                    "cuCtxEnablePeerAccess"};
  return kAnswered.contains(symbol);
}

// Those that are an access even with all arguments 0.
bool is_always_told(std::string_view symbol) {
  static constexpr std::string_view kTold[] = {
      "cuMemset",      "cuStreamWaitValue", "cuStreamWriteValue", "cuStreamBatchMemOp",
      "cuGraphLaunch", "cuMemcpyDtoD",      "cuLaunchCooperative"};
  return std::any_of(std::begin(kTold), std::end(kTold),
                     [&](std::string_view prefix) { return symbol.starts_with(prefix); });
}

std::vector<DoorCall> forms(Handled handled) {
  std::vector<DoorCall> chosen;
  for (const DoorCall& form : doors_test::door_calls())
    if (form.handled == handled && !is_answered_here(form.symbol)) chosen.push_back(form);
  return chosen;
}

TEST_F(Doors, WithoutARuntimeEachFormIsItsOwnFunctionOnce) {
  tencache::doors::active_runtime.store(nullptr);
  for (const Handled handled : {Handled::kByHandler, Handled::kRetried, Handled::kEnqueued}) {
    for (const DoorCall& form : forms(handled)) {
      stub_set_result(form.symbol, CUDA_ERROR_OUT_OF_MEMORY);
      const Count count(form);
      EXPECT_EQ(call(form), CUDA_ERROR_OUT_OF_MEMORY) << form.symbol;
      count.expect(1);
    }
  }
  tencache::doors::active_runtime.store(&the_runtime());
  EXPECT_TRUE(the_runtime().seen.empty());
}

TEST_F(Doors, WithOneEachHandlersFormIsItsOwnFunctionOnItsOwnStream) {
  the_runtime().verdict = tencache::runtime::Runtime::Verdict::kNotOurs;
  the_runtime().answers_queries = false;
  for (const DoorCall& form : forms(Handled::kByHandler)) {
    for (const CUstream stream : {CUstream(nullptr), kStream}) {
      the_runtime().seen.clear();
      stub_set_result(form.symbol, CUDA_ERROR_NOT_PERMITTED);
      const Count count(form);
      EXPECT_EQ(call(form, stream), CUDA_ERROR_NOT_PERMITTED) << form.symbol;
      count.expect_own(1);
      const CUstream expected = form.has_stream && stream != nullptr ? stream : default_stream(form);
      for (const doors_test::Seen& seen : the_runtime().seen)
        EXPECT_EQ(seen.access.stream.handle, expected) << form.symbol;
      EXPECT_TRUE(!the_runtime().seen.empty() || !is_always_told(form.symbol)) << form.symbol;
    }
  }
}

TEST_F(Doors, WhatMayTakeMemoryIsTriedOnceMoreWhereRoomWasMadeAndNeverTold) {
  for (const DoorCall& form : forms(Handled::kRetried)) {
    stub_set_result(form.symbol, CUDA_ERROR_OUT_OF_MEMORY);
    for (const bool room : {false, true}) {
      the_runtime().can_make_room = room;
      the_runtime().rooms_made = 0;
      const Count count(form);
      EXPECT_EQ(call(form), CUDA_ERROR_OUT_OF_MEMORY) << form.symbol;
      count.expect(room ? 2 : 1);
      EXPECT_EQ(the_runtime().rooms_made, 1u) << form.symbol;
    }
    stub_set_result(form.symbol, CUDA_ERROR_INVALID_VALUE);
    const Count count(form);
    EXPECT_EQ(call(form), CUDA_ERROR_INVALID_VALUE) << form.symbol;
    count.expect(1);
    EXPECT_EQ(the_runtime().rooms_made, 1u) << form.symbol;
  }
  EXPECT_TRUE(the_runtime().seen.empty());
}

TEST_F(Doors, WhatIsEnqueuedIsToldByKindAndStream) {
  for (const DoorCall& form : forms(Handled::kEnqueued)) {
    for (const CUstream stream : {CUstream(nullptr), kStream}) {
      the_runtime().seen.clear();
      the_runtime().results.clear();
      const Count count(form);
      EXPECT_EQ(call(form, stream), CUDA_SUCCESS) << form.symbol;
      count.expect(1);
      ASSERT_EQ(the_runtime().seen.size(), 1u) << form.symbol;
      const auto& access = the_runtime().seen[0].access;
      EXPECT_EQ(access.kind, form.kind) << form.symbol;
      EXPECT_EQ(access.opaque, form.opaque) << form.symbol;
      EXPECT_TRUE(the_runtime().seen[0].pointers.empty()) << form.symbol;
      EXPECT_EQ(access.stream.handle, form.has_stream && stream != nullptr ? stream : default_stream(form))
          << form.symbol;
      EXPECT_EQ(the_runtime().results, std::vector<CUresult>{CUDA_SUCCESS}) << form.symbol;
    }
  }
}

TEST_F(Doors, WhatIsEnqueuedAndRunsOutOfMemoryIsTriedOnceMoreAndToldOnce) {
  the_runtime().can_make_room = true;
  for (const DoorCall& form : forms(Handled::kEnqueued)) {
    the_runtime().results.clear();
    stub_set_result(form.symbol, CUDA_ERROR_OUT_OF_MEMORY);
    const Count count(form);
    EXPECT_EQ(call(form), CUDA_ERROR_OUT_OF_MEMORY) << form.symbol;
    count.expect(2);
    EXPECT_EQ(the_runtime().results, std::vector<CUresult>{CUDA_ERROR_OUT_OF_MEMORY}) << form.symbol;
  }
}

TEST_F(Doors, WhatTheRuntimeAnswersIsNotEnqueued) {
  the_runtime().admission = {false, CUDA_ERROR_LAUNCH_FAILED, 0};
  for (const DoorCall& form : forms(Handled::kEnqueued)) {
    const Count count(form);
    EXPECT_EQ(call(form), CUDA_ERROR_LAUNCH_FAILED) << form.symbol;
    count.expect(0);
  }
}

// The driver refuses mapped memory with a code of its own, which must reach the program.
TEST_F(Doors, ALegacyHandleOfOursIsRefusedByTheDriver) {
  stub_set_result("cuIpcGetMemHandle", CUDA_ERROR_INVALID_VALUE);
  const unsigned before = calls("cuIpcGetMemHandle");
  CUipcMemHandle handle{};
  EXPECT_EQ(DOOR(cuIpcGetMemHandle)(&handle, doors_test::kArena), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(calls("cuIpcGetMemHandle"), before + 1);
}

}  // namespace
