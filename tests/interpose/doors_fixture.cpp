#include "tests/interpose/doors_fixture.hpp"

#include <memory>
#include <string_view>

namespace doors_test {

namespace {

std::map<std::string, void*>& replacements() {
  static std::map<std::string, void*> all;
  return all;
}

void* look_up(void*, const char* symbol) {
  const auto replaced = replacements().find(symbol);
  if (replaced != replacements().end()) return replaced->second;
  for (const stub::Form& form : stub::kForms) {
    if (std::string_view(form.symbol) == symbol) return form.address;
  }
  return nullptr;
}

unsigned starts = 0;

}  // namespace

RecordingRuntime& the_runtime() {
  static auto* const runtime = new RecordingRuntime;
  return *runtime;
}

void replace(const char* symbol, void* function) { replacements()[symbol] = function; }

void adopt_test_driver() { tencache::interpose::adopt_driver({look_up, nullptr}); }

void DoorsTest::SetUp() {
  adopt_test_driver();
  ASSERT_EQ(DOOR(cuInit)(0), CUDA_SUCCESS);
  ASSERT_EQ(starts, 1u);
  std::destroy_at(&the_runtime());
  std::construct_at(&the_runtime());
}

void DoorsTest::TearDown() {
  for (const stub::Form& form : stub::kForms) stub_set_result(form.symbol, CUDA_SUCCESS);
}

}  // namespace doors_test

namespace tencache::runtime {

Runtime* start(const Driver&, const Options&) noexcept {
  ++doors_test::starts;
  return &doors_test::the_runtime();
}

}  // namespace tencache::runtime
