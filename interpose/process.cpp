#include "interpose/process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "interpose/frameworks.hpp"
#include "interpose/genuine_driver.hpp"
#include "interpose/handlers.gen.hpp"
#include "interpose/kernels.hpp"
#include "interpose/ranks.hpp"
#include "interpose/visit.hpp"
#include "src/base/log.hpp"
#include "src/base/options.hpp"

namespace tencache::doors {

std::atomic<runtime::Runtime*> active_runtime{nullptr};

namespace {

enum class Phase : int { kIdle, kStarting, kDone };
std::atomic<Phase> phase{Phase::kIdle};
std::atomic<bool> refused{false};

Driver driver_functions;
OptionsReading reading;

// Of the runtime that has gone passive.
std::atomic<CUdeviceptr> passive_base{0};
std::atomic<std::uint64_t> passive_size{0};

runtime::Runtime* deactivate() noexcept {
  runtime::Runtime* const runtime = active_runtime.exchange(nullptr, std::memory_order_acq_rel);
  if (runtime == nullptr) return nullptr;
  const runtime::Arena arena = runtime->arena();
  passive_base.store(arena.base, std::memory_order_relaxed);
  passive_size.store(arena.size, std::memory_order_release);
  return runtime;
}

void on_exit() noexcept {
  if (runtime::Runtime* const runtime = deactivate()) {
    runtime->passed_through(interpose::passed_through());
    runtime->print_summary();
    runtime->go_passive();
  }
}

// The child has none of our threads, and the driver's state in it is void.
void in_forked_child() noexcept {
  phase.store(Phase::kDone, std::memory_order_relaxed);
  if (runtime::Runtime* const runtime = deactivate()) runtime->go_passive();
}

void* look_up(const char* symbol) noexcept {
  const auto index = interpose::find_entry_point(symbol);
  return index ? interpose::genuine_address(*index) : nullptr;
}

// Ranks share one host memory and hand addresses to each other; neither is taken into account yet.
bool is_one_of_several_ranks() noexcept {
  const char* const variable = interpose::variable_of_several_ranks();
  if (variable == nullptr) return false;
  if (interpose::is_first_rank())
    log::warn("{}={}: several ranks are not managed yet, their calls go straight to the driver", variable,
              std::getenv(variable));
  return true;
}

void start() noexcept {
  reading = read_options(environ);
  refused.store(reading.refused, std::memory_order_relaxed);
  if (reading.refused || !reading.options.enabled || is_one_of_several_ranks()) return;
  interpose::report_expandable_segments();
  if (const char* missing = driver_functions.fill(look_up)) {
    log::warn("the driver has no {}; nothing is managed; install driver 550 or newer", missing);
    return;
  }
  start_reading_kernels(driver_functions);
  pthread_atfork(nullptr, nullptr, in_forked_child);
  runtime::Runtime* const runtime = runtime::start(driver_functions, reading.options);
  if (runtime == nullptr) return;
  // Behind the driver's own handlers in the list, so before them at exit.
  std::atexit(on_exit);
  active_runtime.store(runtime, std::memory_order_release);
}

void start_once() noexcept {
  Phase seen = Phase::kIdle;
  if (phase.compare_exchange_strong(seen, Phase::kStarting, std::memory_order_acq_rel)) {
    start();
    phase.store(Phase::kDone, std::memory_order_release);
    phase.notify_all();
    return;
  }
  while (seen != Phase::kDone) {
    phase.wait(seen, std::memory_order_acquire);
    seen = phase.load(std::memory_order_acquire);
  }
}

}  // namespace

const Driver& genuine_driver() noexcept { return driver_functions; }

bool was_ours(CUdeviceptr address) noexcept {
  const std::uint64_t size = passive_size.load(std::memory_order_acquire);
  return address - passive_base.load(std::memory_order_relaxed) < size;
}

namespace handlers {

CUresult cuInit(const Genuine<decltype(&::cuInit)>& driver, unsigned flags) noexcept {
  const bool from_program = inside_depth == 0;
  const Inside inside;
  const CUresult result = driver(flags);
  if (!from_program || result != CUDA_SUCCESS) return result;
  start_once();
  return refused.load(std::memory_order_relaxed) ? CUDA_ERROR_SYSTEM_NOT_READY : result;
}

}  // namespace handlers
}  // namespace tencache::doors
